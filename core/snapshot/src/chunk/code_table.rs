//! Finds equal items of a list with a hash table. The hash function has no seed, so an attacker can
//! choose items whose hashes collide. The search therefore stops after a limited number of probes, and
//! the items are then encoded without a dictionary.

use super::bytes::padded_word;
use crate::saturate::{to_u64, to_usize};

/// Maximum number of slots that are probed per item.
const MAX_PROBES: usize = 48;
/// Minimum number of slots per distinct item. Also the factor by which the table grows.
const SLOTS_PER_ITEM: usize = 4;
const MIN_SLOTS: usize = 16;
/// Maximum number of items for which a new table has slots. Such a table fits into the cache of a
/// processor, and few columns with repeated items have more of them.
const MAX_EXPECTED_ITEMS: usize = 256;

/// Codes of distinct items, which are numbered in the order of their first occurrence.
pub(super) struct CodeTable {
    /// The number of slots is a power of two.
    slots: Vec<Slot>,
    item_count: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    /// Code of the item, or [`FREE`].
    code: u32,
}

/// Greater than each code, because the number of items is a `u32`.
const FREE: u32 = u32::MAX;
const FREE_SLOT: Slot = Slot { hash: 0, code: FREE };

impl CodeTable {
    /// The table is small for short lists. Scattered edits usually put only a few items into a column.
    pub(super) fn new(expected_items: usize) -> Self {
        let expected_slots = expected_items.min(MAX_EXPECTED_ITEMS) * SLOTS_PER_ITEM;
        let slot_count = expected_slots.next_power_of_two().max(MIN_SLOTS);
        Self { slots: vec![FREE_SLOT; slot_count], item_count: 0 }
    }

    /// Returns the code of an item. A new item gets the number of distinct items before it.
    /// `is_equal` compares the item with the one that has a code. Returns `None` after too many probes.
    pub(super) fn find_or_insert(
        &mut self,
        hash: u32,
        is_equal: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let slot_index = self.find_slot(hash, is_equal)?;
        let slot = self.slots.get_mut(slot_index)?;
        if slot.code != FREE {
            return Some(slot.code);
        }
        let code = self.item_count;
        *slot = Slot { hash, code };
        self.item_count = code.checked_add(1)?;
        if to_usize(self.item_count) > self.slots.len() / SLOTS_PER_ITEM {
            self.grow()?;
        }
        Some(code)
    }

    /// Returns the index of the slot that contains an equal item, or of an empty slot for a new item.
    /// Returns `None` after too many probes.
    fn find_slot(&self, hash: u32, is_equal: impl Fn(u32) -> bool) -> Option<usize> {
        let slot_index_mask = self.slots.len() - 1;
        let first_probe = to_usize(hash);
        for probe in first_probe..first_probe + MAX_PROBES {
            let slot_index = probe & slot_index_mask;
            let slot = self.slots.get(slot_index)?;
            if slot.code == FREE || (slot.hash == hash && is_equal(slot.code)) {
                return Some(slot_index);
            }
        }
        None
    }

    fn grow(&mut self) -> Option<()> {
        let larger_slots = vec![FREE_SLOT; self.slots.len() * SLOTS_PER_ITEM];
        let slots = std::mem::replace(&mut self.slots, larger_slots);
        for slot in slots.into_iter().filter(|slot| slot.code != FREE) {
            // The items in the table are distinct, so no comparison is needed.
            let slot_index = self.find_slot(slot.hash, |_| false)?;
            *self.slots.get_mut(slot_index)? = slot;
        }
        Some(())
    }
}

/// Hashes 8 bytes at a time with folded multiplication.
pub(super) fn hash_of(bytes: &[u8]) -> u32 {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, remaining_bytes) = bytes.as_chunks::<8>();
    let hash_of_words = words.iter().fold(to_u64(bytes.len()) ^ SEED, mix_word);
    let hash = mix_word(hash_of_words, &padded_word(remaining_bytes));
    u32::try_from(hash >> 32).unwrap_or(0)
}

fn mix_word(hash: u64, word: &[u8; 8]) -> u64 {
    const MULTIPLIER: u128 = 0xff51_afd7_ed55_8ccd;
    let product = u128::from(hash ^ u64::from_le_bytes(*word)) * MULTIPLIER;
    let low_half = product & u128::from(u64::MAX);
    let high_half = product >> 64;
    u64::try_from(low_half ^ high_half).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_grows() {
        let items: Vec<u32> = (0..40_000).collect();
        let mut table = CodeTable::new(1);
        for _ in 0..2 {
            for item in &items {
                let hash = hash_of(&item.to_le_bytes());
                assert_eq!(table.find_or_insert(hash, |code| code == *item), Some(*item));
            }
        }
    }

    #[test]
    fn items_with_one_hash_end_the_search() {
        let mut table = CodeTable::new(MAX_EXPECTED_ITEMS);
        let most = u32::try_from(MAX_PROBES).unwrap();
        for item in 0..most {
            assert_eq!(table.find_or_insert(5, |code| code == item), Some(item));
        }
        assert_eq!(table.find_or_insert(5, |code| code == most), None);
        assert_eq!(table.find_or_insert(5, |code| code == 0), Some(0));
    }
}
