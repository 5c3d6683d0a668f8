//! Finds distinct strings with a hash table. The hash function has no seed, so an attacker can
//! choose strings whose hashes collide. The search therefore stops after a limited number of
//! probes, and the strings are then encoded without a dictionary.

use crate::chunk::bytes::padded_word;
use crate::saturate::{to_u64, to_usize};

/// Maximum number of hash table slots that are probed per string.
const MAX_PROBES: usize = 48;
/// Number of strings after which the search checks again whether enough strings repeat.
const CHECK_INTERVAL: usize = 1_024;
/// Minimum number of hash table slots per distinct string. Also the factor by which the hash table
/// grows.
const SLOTS_PER_TEXT: usize = 4;
const MIN_SLOTS: usize = 16;

/// Distinct strings in order of first occurrence, plus one code per string.
pub(super) struct DistinctTexts<'a> {
    pub(super) texts: Vec<&'a str>,
    pub(super) codes: Vec<i64>,
}

#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    /// Index of the string in the list of distinct strings.
    code: u32,
}

impl<'a> DistinctTexts<'a> {
    /// `expected_count` is the approximate number of strings. Returns `None` if hashes collide too
    /// often, or if more than three quarters of the strings are distinct. This limit is checked at
    /// regular intervals and at the end.
    pub(super) fn find_if_repetitive(
        texts: impl Iterator<Item = &'a str>,
        expected_count: usize,
    ) -> Option<Self> {
        let mut distinct = Self { texts: Vec::new(), codes: Vec::with_capacity(expected_count) };
        let mut table = vec![None; initial_slot_count(expected_count)];
        for text in texts {
            let code = distinct.find_or_insert(&mut table, text)?;
            distinct.codes.push(i64::from(code));
            let is_check_due = distinct.codes.len().is_multiple_of(CHECK_INTERVAL);
            if is_check_due && !distinct.has_enough_repeats() {
                return None;
            }
            if distinct.texts.len() > table.len() / SLOTS_PER_TEXT {
                table = distinct.grow_table(&table)?;
            }
        }
        if distinct.has_enough_repeats() { Some(distinct) } else { None }
    }

    fn has_enough_repeats(&self) -> bool {
        self.texts.len() <= self.codes.len() / 4 * 3 + 1
    }

    /// Returns `None` after too many probes.
    fn find_or_insert(&mut self, table: &mut [Option<Slot>], text: &'a str) -> Option<u32> {
        let hash = hash_of(text.as_bytes());
        let slot_index = self.find_slot(table, hash, text)?;
        let slot = table.get_mut(slot_index)?;
        if let Some(occupied) = slot {
            return Some(occupied.code);
        }
        let code = u32::try_from(self.texts.len()).ok()?;
        *slot = Some(Slot { hash, code });
        self.texts.push(text);
        Some(code)
    }

    /// Returns the index of the slot that contains the string, or of an empty slot for a new
    /// string. Returns `None` after too many probes.
    fn find_slot(&self, table: &[Option<Slot>], hash: u32, text: &str) -> Option<usize> {
        let slot_index_mask = table.len() - 1;
        let first_probe = to_usize(hash);
        for probe in first_probe..first_probe + MAX_PROBES {
            let slot_index = probe & slot_index_mask;
            let is_free_or_same_text = table.get(slot_index)?.is_none_or(|slot| {
                slot.hash == hash && self.texts.get(to_usize(slot.code)) == Some(&text)
            });
            if is_free_or_same_text {
                return Some(slot_index);
            }
        }
        None
    }

    fn grow_table(&self, table: &[Option<Slot>]) -> Option<Vec<Option<Slot>>> {
        let mut larger_table = vec![None; table.len() * SLOTS_PER_TEXT];
        for slot in table.iter().flatten() {
            // The strings in the table are all distinct. Each one can go into the first empty slot
            // without a comparison.
            let slot_index = self.find_slot(&larger_table, slot.hash, "")?;
            *larger_table.get_mut(slot_index)? = Some(*slot);
        }
        Some(larger_table)
    }
}

/// Returns the initial number of slots, which is a power of two. The number is small for short
/// lists. Scattered edits usually put only a few strings into a column.
fn initial_slot_count(expected_count: usize) -> usize {
    let expected_slots = expected_count.min(CHECK_INTERVAL) * SLOTS_PER_TEXT;
    expected_slots.next_power_of_two().max(MIN_SLOTS)
}

/// Hashes 8 bytes at a time with folded multiplication.
fn hash_of(bytes: &[u8]) -> u32 {
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
    fn distinct_texts_have_codes_in_the_order_in_which_they_come() {
        let texts = ["b", "", "b", "a", "", "b"];
        let distinct = DistinctTexts::find_if_repetitive(texts.into_iter(), 2).unwrap();
        assert_eq!(distinct.texts, ["b", "", "a"]);
        assert_eq!(distinct.codes, [0, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn a_table_grows_and_gives_up() {
        let many: Vec<String> = (0..40_000).map(|number| format!("text {number:x}")).collect();
        let twice = many.iter().flat_map(|text| [text.as_str(), text]);
        let distinct = DistinctTexts::find_if_repetitive(twice, 80_000).unwrap();
        assert_eq!((distinct.texts.len(), distinct.codes.len()), (40_000, 80_000));
        assert_eq!(distinct.codes[79_999], 39_999);
        let never_repeated = many.iter().map(String::as_str);
        assert!(DistinctTexts::find_if_repetitive(never_repeated, 1).is_none(), "none repeats");
    }

    #[test]
    fn texts_with_one_hash_end_early() {
        let mut distinct = DistinctTexts { texts: vec!["x"], codes: Vec::new() };
        let table = vec![Some(Slot { hash: 5, code: 0 }); 4_096];
        assert_eq!(distinct.find_slot(&table, 5, "x"), Some(5));
        assert_eq!(distinct.find_slot(&table, 5, "y"), None);
        distinct.texts.clear();
    }
}
