//! Decides when the server can verify a part of the tile index: after the part and all objects that
//! were added before it have been uploaded.

use std::collections::{BTreeSet, VecDeque};

use cellar_api::wire::UploadedChunk;

/// Objects are numbered in the order in which they are added, which is also the order in which their
/// uploads start. Uploads end in any order.
#[derive(Debug, Default)]
pub(super) struct UploadOrder {
    added_count: u64,
    started_count: u64,
    running: BTreeSet<u64>,
    waiting_parts: VecDeque<WaitingPart>,
}

#[derive(Debug)]
struct WaitingPart {
    chunk: UploadedChunk,
    number: u64,
}

impl UploadOrder {
    pub(super) fn add_object(&mut self) {
        self.added_count += 1;
    }

    /// The part is the object that is added next.
    pub(super) fn add_part(&mut self, chunk: UploadedChunk) {
        self.waiting_parts.push_back(WaitingPart { chunk, number: self.added_count });
    }

    /// Returns the number of the object.
    pub(super) fn start_upload(&mut self) -> u64 {
        let number = self.started_count;
        self.started_count += 1;
        self.running.insert(number);
        number
    }

    pub(super) fn finish_upload(&mut self, number: u64) {
        self.running.remove(&number);
    }

    /// Returns a part that can be verified, and forgets it.
    pub(super) fn next_uploaded_part(&mut self) -> Option<UploadedChunk> {
        let first_missing = self.running.first().copied().unwrap_or(self.started_count);
        let part = self.waiting_parts.pop_front_if(|part| part.number < first_missing)?;
        Some(part.chunk)
    }

    pub(super) fn has_parts(&self) -> bool {
        !self.waiting_parts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(hash: &str) -> UploadedChunk {
        UploadedChunk { hash: hash.to_owned(), bytes: 1 }
    }

    fn next_part(order: &mut UploadOrder) -> Option<String> {
        order.next_uploaded_part().map(|chunk| chunk.hash)
    }

    #[test]
    fn a_part_is_verified_after_all_objects_before_it() {
        let mut order = UploadOrder::default();
        for object in ["tile", "tile", "first", "tile", "second", "tile"] {
            if object != "tile" {
                order.add_part(part(object));
            }
            order.add_object();
        }
        assert_eq!(next_part(&mut order), None, "no upload has started");
        let numbers: Vec<u64> = (0..5).map(|_| order.start_upload()).collect();
        for number in [2, 1, 4] {
            order.finish_upload(numbers[number]);
            assert_eq!(next_part(&mut order), None, "the first tile is still uploaded");
        }
        order.finish_upload(numbers[0]);
        assert_eq!(next_part(&mut order).as_deref(), Some("first"));
        assert_eq!(next_part(&mut order), None, "a tile of the second part is still uploaded");
        order.finish_upload(numbers[3]);
        assert!(order.has_parts());
        assert_eq!(next_part(&mut order).as_deref(), Some("second"));
        assert!(!order.has_parts());
    }
}
