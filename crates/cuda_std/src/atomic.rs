//! Atomic operations on global and shared memory; each answers with the value before it.
//!
//! They are relaxed: nothing else is ordered by them. The order among threads is open, so a sum of floating-point
//! numbers may differ from run to run.

use crate::{Element, GlobalMut, Shared, backend};
use core::mem::transmute_copy;

mod sealed {
    /// How the 32 bits of a number are to be understood.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        Unsigned,
        Signed,
        Float,
    }

    /// What happens to the number in memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Update {
        Add,
        Min,
        Max,
        Exchange,
        /// Exchange if the number in memory has these bits.
        ExchangeIf(u32),
    }

    pub trait Number {
        #[doc(hidden)]
        const KIND: Kind;
    }
    pub trait Memory<T> {
        type Index;
        #[doc(hidden)]
        unsafe fn update(self, index: Self::Index, update: Update, value: T) -> T;
    }
}

pub(crate) use sealed::{Kind, Update};

/// A number that can be updated atomically: [`u32`], [`i32`], [`f32`].
pub trait Number: Element + sealed::Number {}

/// A [`Number`] that can be compared atomically: [`u32`], [`i32`].
pub trait Integer: Number {}

/// Memory that can be updated atomically: [`GlobalMut`], with indices in [`u64`], and [`Shared`], with indices in [`u32`].
pub trait Memory<T>: sealed::Memory<T> {}

macro_rules! numbers {
    ($($type:ty: $kind:ident),*) => { $(
        impl sealed::Number for $type {
            const KIND: Kind = Kind::$kind;
        }
        impl Number for $type {}
    )* };
}

numbers!(u32: Unsigned, i32: Signed, f32: Float);
impl Integer for u32 {}
impl Integer for i32 {}

impl<T: Number> Memory<T> for GlobalMut<T> {}
impl<T: Number> Memory<T> for Shared<T> {}

impl<T: Number> sealed::Memory<T> for GlobalMut<T> {
    type Index = u64;

    #[inline(always)]
    #[track_caller]
    unsafe fn update(self, index: u64, update: Update, value: T) -> T {
        // SAFETY: the caller's promise; a number has 32 bits.
        unsafe {
            let bits = transmute_copy(&value);
            transmute_copy(&backend::atomic_global(
                self.pointer.cast(),
                index,
                self.length,
                T::KIND,
                update,
                bits,
            ))
        }
    }
}

impl<T: Number> sealed::Memory<T> for Shared<T> {
    type Index = u32;

    #[inline(always)]
    #[track_caller]
    unsafe fn update(self, index: u32, update: Update, value: T) -> T {
        // SAFETY: the caller's promise; a number has 32 bits.
        unsafe {
            let bits = transmute_copy(&value);
            transmute_copy(&backend::atomic_shared(
                self.address,
                index,
                self.length,
                T::KIND,
                update,
                bits,
            ))
        }
    }
}

/// Adds to element `index`; integers wrap, and in global memory subnormal [`f32`] count as zero.
///
/// # Safety
///
/// `index` is less than the length, and only atomic operations touch the element meanwhile.
#[inline(always)]
#[track_caller]
pub unsafe fn add<T: Number, M: Memory<T>>(memory: M, index: M::Index, value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { memory.update(index, Update::Add, value) }
}

/// Lowers element `index` to the value if that is less.
///
/// # Safety
///
/// As [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn min<T: Integer, M: Memory<T>>(memory: M, index: M::Index, value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { memory.update(index, Update::Min, value) }
}

/// Raises element `index` to the value if that is more.
///
/// # Safety
///
/// As [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn max<T: Integer, M: Memory<T>>(memory: M, index: M::Index, value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { memory.update(index, Update::Max, value) }
}

/// Replaces element `index`.
///
/// # Safety
///
/// As [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn exchange<T: Number, M: Memory<T>>(memory: M, index: M::Index, value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { memory.update(index, Update::Exchange, value) }
}

/// Replaces element `index` if it is `expected`.
///
/// # Safety
///
/// As [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn compare_exchange<T: Integer, M: Memory<T>>(memory: M, index: M::Index, expected: T, value: T) -> T {
    // SAFETY: the caller's promise; a number has 32 bits.
    unsafe { memory.update(index, Update::ExchangeIf(transmute_copy(&expected)), value) }
}
