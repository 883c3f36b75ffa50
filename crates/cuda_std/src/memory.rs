//! Global and shared memory as a kernel sees them.
//!
//! A slice carries its length; the device uses the pointer alone, the emulator checks every access against the length.

use crate::{Element, backend};

/// Global memory that the kernel reads.
#[repr(C)]
#[derive(Debug)]
pub struct Global<T> {
    pub(crate) pointer: *const T,
    pub(crate) length: u64,
}

/// Global memory that the kernel writes.
#[repr(C)]
#[derive(Debug)]
pub struct GlobalMut<T> {
    pub(crate) pointer: *mut T,
    pub(crate) length: u64,
}

impl<T> Clone for Global<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Global<T> {}
impl<T> Clone for GlobalMut<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for GlobalMut<T> {}

// SAFETY: a slice is an address and a length; whoever makes one answers for what lies there.
unsafe impl<T: Element> Send for Global<T> {}
// SAFETY: as above; nothing is written through it.
unsafe impl<T: Element> Sync for Global<T> {}
// SAFETY: as above.
unsafe impl<T: Element> Send for GlobalMut<T> {}
// SAFETY: as above; the kernel that writes through it answers for the absence of races.
unsafe impl<T: Element> Sync for GlobalMut<T> {}

impl<T: Element> Global<T> {
    /// `length` elements from `pointer` on.
    ///
    /// # Safety
    ///
    /// While a kernel uses the slice, the elements are there, aligned to their size, and nobody writes them.
    pub const unsafe fn new(pointer: *const T, length: u64) -> Self {
        Self { pointer, length }
    }

    /// A slice of nothing, for an option that is off.
    pub const fn empty() -> Self {
        Self {
            pointer: core::ptr::null(),
            length: 0,
        }
    }

    /// How many elements there are.
    pub const fn length(self) -> u64 {
        self.length
    }

    /// The slice from element `start` on.
    ///
    /// # Safety
    ///
    /// `start` is at most the length.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn from(self, start: u64) -> Self {
        backend::check_start(start, self.length);
        Self {
            pointer: self.pointer.wrapping_add(start as usize),
            length: self.length.wrapping_sub(start),
        }
    }

    /// The same memory as elements of another size, as many as are complete.
    ///
    /// # Safety
    ///
    /// The memory is aligned to the other size.
    #[inline(always)]
    pub unsafe fn cast<U: Element>(self) -> Global<U> {
        Global {
            pointer: self.pointer.cast(),
            length: elements_of::<T, U>(self.length),
        }
    }

    /// Element `index`.
    ///
    /// # Safety
    ///
    /// `index` is less than the length.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load(self, index: u64) -> T {
        // SAFETY: in range by the caller's promise, readable by that of `new`.
        unsafe { backend::load_constant(self.pointer, index, self.length) }
    }
}

impl<T: Element> GlobalMut<T> {
    /// `length` elements from `pointer` on.
    ///
    /// # Safety
    ///
    /// While a kernel uses the slice, the elements are there, aligned to their size, and nobody else touches them.
    pub const unsafe fn new(pointer: *mut T, length: u64) -> Self {
        Self { pointer, length }
    }

    /// A slice of nothing, for an option that is off.
    pub const fn empty() -> Self {
        Self {
            pointer: core::ptr::null_mut(),
            length: 0,
        }
    }

    /// The same memory as elements of another size, as many as are complete.
    ///
    /// # Safety
    ///
    /// The memory is aligned to the other size.
    #[inline(always)]
    pub unsafe fn cast<U: Element>(self) -> GlobalMut<U> {
        GlobalMut {
            pointer: self.pointer.cast(),
            length: elements_of::<T, U>(self.length),
        }
    }

    /// Element `index`.
    ///
    /// # Safety
    ///
    /// `index` is less than the length and no other thread writes the element meanwhile.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load(self, index: u64) -> T {
        // SAFETY: in range by the caller's promise, readable by that of `new`.
        unsafe { backend::load_global(self.pointer.cast_const(), index, self.length) }
    }

    /// Sets element `index`.
    ///
    /// # Safety
    ///
    /// `index` is less than the length and no other thread touches the element meanwhile.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, index: u64, value: T) {
        // SAFETY: in range by the caller's promise, writable by that of `new`.
        unsafe { backend::store_global(self.pointer, index, self.length, value) }
    }
}

/// How many elements of type `U` have room in `length` of type `T`.
const fn elements_of<T, U>(length: u64) -> u64 {
    length * size_of::<T>() as u64 / size_of::<U>() as u64
}

/// A part of the block's dynamic shared memory.
#[derive(Debug)]
pub struct Shared<T> {
    pub(crate) address: u32,
    pub(crate) length: u32,
    element: core::marker::PhantomData<T>,
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Shared<T> {}

impl<T: Element> Shared<T> {
    /// `length` elements from byte `offset` of the block's dynamic shared memory on.
    ///
    /// # Safety
    ///
    /// The launch gives the block that much, and `offset` is a multiple of the element's size.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn new(offset: u32, length: u32) -> Self {
        Self {
            // SAFETY: the caller's promise.
            address: unsafe { backend::shared_address::<T>(offset, length) },
            length,
            element: core::marker::PhantomData,
        }
    }

    /// Element `index`.
    ///
    /// # Safety
    ///
    /// `index` is less than the length, and the element was written before the last barrier or by this thread.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load(self, index: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { backend::load_shared(self.address, index, self.length) }
    }

    /// Sets element `index`.
    ///
    /// # Safety
    ///
    /// `index` is less than the length, and no other thread touches the element until the next barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, index: u32, value: T) {
        // SAFETY: the caller's promise.
        unsafe { backend::store_shared(self.address, index, self.length, value) }
    }
}
