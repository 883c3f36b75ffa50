//! One function for every symbol, each a jump to the address in its slot.

use std::arch::naked_asm;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::symbols::with_symbols;

/// `CUDA_ERROR_NO_DEVICE`: what every function returns as long as no driver is loaded.
pub(crate) const NO_DEVICE: i32 = 100;

/// What a slot holds before [`fill`]; the caller cleans up arguments, so that it may be called with any.
#[cold]
extern "C" fn no_driver() -> i32 {
    NO_DEVICE
}

/// Address of a function of libcuda.
pub(crate) struct Slot(AtomicPtr<c_void>);

impl Slot {
    const fn new() -> Self {
        Self(AtomicPtr::new(no_driver as *mut c_void))
    }

    pub(crate) fn address(&self) -> *mut c_void {
        self.0.load(Ordering::Acquire)
    }
}

macro_rules! trampolines {
    ($($name:ident),* $(,)?) => {
        #[allow(non_upper_case_globals, reason = "a slot is called like its function")]
        pub(crate) mod slots {
            $( pub(crate) static $name: super::Slot = super::Slot::new(); )*
        }

        $(
            // SAFETY: the name is libcuda's own, and this stands in for it; another definition is refused by the linker.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            extern "C" fn $name() {
                // The slot's address comes from the global offset table, so that the jump also links into shared
                // libraries. The register is the one that the calling convention leaves to such stubs; arguments and
                // return address stay where they are, and so does the stack.
                #[cfg(target_arch = "x86_64")]
                naked_asm!(
                    "mov r11, qword ptr [rip + {slot}@GOTPCREL]",
                    "jmp qword ptr [r11]",
                    slot = sym slots::$name,
                );
                #[cfg(target_arch = "aarch64")]
                naked_asm!(
                    "adrp x16, :got:{slot}",
                    "ldr x16, [x16, :got_lo12:{slot}]",
                    "ldr x16, [x16]",
                    "br x16",
                    slot = sym slots::$name,
                );
            }
        )*

        /// Every symbol, as the loader wants its name, and its slot.
        static TABLE: &[(&CStr, &Slot)] = &[
            $( (
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a symbol holds no NUL"),
                },
                &slots::$name,
            ), )*
        ];
    };
}

with_symbols!(trampolines);

/// Fills every slot whose symbol is found.
///
/// # Safety
///
/// `find` returns addresses of libcuda's functions, which stay valid until the process ends.
pub(crate) unsafe fn fill(find: impl Fn(&CStr) -> Option<*mut c_void>) {
    for (name, slot) in TABLE {
        if let Some(address) = find(name) {
            slot.0.store(address, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn every_symbol_is_there_once() {
        assert_eq!(TABLE.len(), 353);
        assert!(TABLE.is_sorted_by(|(one, _), (next, _)| one < next));
    }
}
