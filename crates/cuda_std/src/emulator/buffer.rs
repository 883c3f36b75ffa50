//! Memory for emulated launches, aligned as the device's, without a word of unsafe where it is used.

use super::word::{read, write};
use crate::{Element, Global, GlobalMut};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// The alignment of device allocations.
#[derive(Clone, Copy)]
#[repr(C, align(256))]
struct Line([u8; 256]);

/// An allocation, never freed.
#[derive(Clone, Copy, Debug)]
struct Allocation(*mut Line);

// SAFETY: an address; all accesses to what lies there are atomic.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

/// Allocations that nobody uses, by their number of lines.
static SPARE: Mutex<BTreeMap<usize, Vec<Allocation>>> = Mutex::new(BTreeMap::new());

/// Elements in the emulator's global memory, aligned to 256 bytes.
///
/// The memory is never given back to the system, only to later buffers: a slice of it that outlives the buffer is
/// wrong, but never dangling.
#[derive(Debug)]
pub struct Buffer<T: Element> {
    memory: Allocation,
    lines: usize,
    length: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// Memory that holds these elements.
    pub fn new(elements: &[T]) -> Self {
        let lines = size_of_val(elements).div_ceil(size_of::<Line>());
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = spare
            .get_mut(&lines)
            .and_then(Vec::pop)
            .unwrap_or_else(|| Allocation(vec![Line([0; 256]); lines].leak().as_mut_ptr()));
        let buffer = Self {
            memory,
            lines,
            length: elements.len(),
            element: PhantomData,
        };
        for (index, &element) in elements.iter().enumerate() {
            // SAFETY: in range, and a line's alignment is that of any element.
            unsafe { write(buffer.pointer().wrapping_add(index), element) };
        }
        buffer
    }

    /// Zeros, of which only those that are touched take memory.
    pub fn zeroed(length: usize) -> Self {
        let lines = (length * size_of::<T>()).div_ceil(size_of::<Line>());
        // Numbers that the system gives as zeros, one line more to find an aligned place in: zeros of a larger alignment
        // would all be written.
        let numbers = vec![0_u128; (lines + 1) * size_of::<Line>() / size_of::<u128>()].leak();
        let start = numbers.as_mut_ptr().cast::<u8>();
        let aligned = start.wrapping_add(start.align_offset(align_of::<Line>()));
        Self {
            memory: Allocation(aligned.cast()),
            lines,
            length,
            element: PhantomData,
        }
    }

    /// Overwrites one element.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn set(&self, index: usize, element: T) {
        assert!(index < self.length, "element {index} of {}", self.length);
        // SAFETY: in range, and a line's alignment is that of any element.
        unsafe { write(self.pointer().wrapping_add(index), element) };
    }

    /// `length` times the same element.
    pub fn filled(element: T, length: usize) -> Self {
        Self::new(&vec![element; length])
    }

    /// What the memory holds.
    pub fn to_vec(&self) -> Vec<T> {
        let element = |index| {
            // SAFETY: in range, and a line's alignment is that of any element.
            unsafe { read(self.pointer().wrapping_add(index).cast_const()) }
        };
        (0..self.length).map(element).collect()
    }

    /// All elements, to read.
    pub fn global(&self) -> Global<T> {
        // SAFETY: the memory is aligned and always there. Whoever writes it meanwhile does so by atomic operations, and
        // the emulator refuses a kernel that does.
        unsafe { Global::new(self.pointer(), self.length as u64) }
    }

    /// The elements from `start` on as those of another type, to read; such an address is aligned no more than it has to be.
    ///
    /// # Panics
    ///
    /// For an address that is not aligned to the other type, or behind the elements.
    pub fn global_from<U: Element>(&self, start: usize) -> Global<U> {
        assert!(start <= self.length && (start * size_of::<T>()).is_multiple_of(size_of::<U>()));
        // SAFETY: in range and aligned.
        unsafe { self.global().from(start as u64).cast() }
    }

    /// All elements, to write.
    pub fn global_mut(&self) -> GlobalMut<T> {
        // SAFETY: the memory is aligned and always there, and all accesses to it are atomic.
        unsafe { GlobalMut::new(self.pointer(), self.length as u64) }
    }

    /// The same memory as elements of another type, as many as are complete, to read.
    pub fn global_as<U: Element>(&self) -> Global<U> {
        // SAFETY: a line's alignment is that of any element, and any bits are one.
        unsafe { self.global().cast() }
    }

    /// The same memory as elements of another type, as many as are complete, to write.
    pub fn global_mut_as<U: Element>(&self) -> GlobalMut<U> {
        // SAFETY: as above.
        unsafe { self.global_mut().cast() }
    }

    fn pointer(&self) -> *mut T {
        self.memory.0.cast()
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        spare.entry(self.lines).or_default().push(self.memory);
    }
}
