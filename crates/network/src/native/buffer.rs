//! Room for numbers, on the boundary of a cache line.

use std::ops::{Deref, DerefMut};

/// Floats of a cache line.
const LINE: usize = 16;

/// A reused slice of floats whose first lies on a cache line, so that vectors don't straddle two.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    room: Vec<f32>,
    start: usize,
    length: usize,
}

impl Buffer {
    /// `length` zeros, whatever was here.
    pub(super) fn reset(&mut self, length: usize) {
        self.room.clear();
        self.room.resize(length + LINE, 0.0);
        let bytes = self.room.as_ptr().align_offset(LINE * size_of::<f32>());
        // An offset that cannot be had (Miri may say so) only costs speed.
        self.start = if bytes < LINE { bytes } else { 0 };
        self.length = length;
    }

    /// A buffer with these numbers.
    pub(super) fn of(numbers: &[f32]) -> Self {
        let mut buffer = Self::default();
        buffer.reset(numbers.len());
        buffer.copy_from_slice(numbers);
        buffer
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        Self::of(self)
    }
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        &self.room[self.start..][..self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.room[self.start..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_starts_on_a_cache_line_also_as_a_clone() {
        for buffer in [Buffer::of(&[1.0; 5]), Buffer::of(&[1.0; 5]).clone()] {
            assert_eq!(buffer[..], [1.0; 5]);
            assert_eq!(buffer.as_ptr() as usize % 64, 0);
        }
    }
}
