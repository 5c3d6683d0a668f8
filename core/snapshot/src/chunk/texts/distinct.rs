//! Finds distinct texts with a hash table.
//!
//! The hash function is not seeded, so an attacker can choose colliding texts. The table therefore
//! gives up after a few probes, and the texts are then encoded without a dictionary.

/// Maximum number of slots that are probed per text.
const MAX_PROBES: usize = 48;
/// Interval, in texts, between checks that enough texts repeat.
const SAMPLE: usize = 1_024;

/// Distinct texts in order of first occurrence, plus one code per text.
pub(super) struct Distinct<'a> {
    pub(super) texts: Vec<&'a str>,
    pub(super) codes: Vec<i64>,
}

impl<'a> Distinct<'a> {
    /// Finds the distinct texts. Returns `None` if more than three quarters of the texts are
    /// distinct, either at the beginning or overall. `expected` is the approximate number of texts.
    pub(super) fn new(texts: impl Iterator<Item = &'a str>, expected: usize) -> Option<Self> {
        let mut distinct = Self { texts: Vec::new(), codes: Vec::with_capacity(expected) };
        // Columns touched by scattered edits usually contain few texts.
        let mut table = vec![(0, EMPTY); (expected.min(SAMPLE) * 4).next_power_of_two().max(16)];
        for text in texts {
            let hash = hash(text.as_bytes());
            let slot = distinct.find_slot(&table, hash, text)?;
            let (_, code) = table.get_mut(slot).map(|entry| {
                if entry.1 == EMPTY {
                    *entry = (hash, u32::try_from(distinct.texts.len()).unwrap_or(EMPTY));
                    distinct.texts.push(text);
                }
                *entry
            })?;
            distinct.codes.push(i64::from(code));
            if distinct.codes.len().is_multiple_of(SAMPLE) && !distinct.has_enough_repeats() {
                return None;
            }
            if distinct.texts.len() > table.len() / 4 {
                table = distinct.grow_table(&table)?;
            }
        }
        distinct.has_enough_repeats().then_some(distinct)
    }

    fn has_enough_repeats(&self) -> bool {
        self.texts.len() <= self.codes.len() / 4 * 3 + 1
    }

    /// Returns the slot of a text, or an empty slot to insert it into. Returns `None` after too
    /// many probes.
    fn find_slot(&self, table: &[(u32, u32)], hash: u32, text: &str) -> Option<usize> {
        let mask = table.len() - 1;
        let first = usize::try_from(hash).unwrap_or(0);
        (first..first + MAX_PROBES).map(|slot| slot & mask).find(|slot| {
            table.get(*slot).is_none_or(|(other, code)| {
                let known_text =
                    || usize::try_from(*code).ok().and_then(|code| self.texts.get(code));
                *code == EMPTY || (*other == hash && known_text() == Some(&text))
            })
        })
    }

    fn grow_table(&self, table: &[(u32, u32)]) -> Option<Vec<(u32, u32)>> {
        let mut grown = vec![(0, EMPTY); table.len() * 4];
        for entry in table.iter().filter(|(_, code)| *code != EMPTY) {
            // The texts are already distinct, so only empty slots need to be considered.
            let slot = self.find_slot(&grown, entry.0, "")?;
            *grown.get_mut(slot)? = *entry;
        }
        Some(grown)
    }
}

/// Code of an empty slot.
const EMPTY: u32 = u32::MAX;

/// Hashes 8 bytes at a time with folded multiplication.
fn hash(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let length = u64::try_from(bytes.len()).unwrap_or(0);
    let mix = |hash: u64, word: &[u8; 8]| {
        let product = u128::from(hash ^ u64::from_le_bytes(*word)) * 0xff51_afd7_ed55_8ccd_u128;
        let [low, high] = [product, product >> 64].map(|half| half & u128::from(u64::MAX));
        u64::try_from(low ^ high).unwrap_or(0)
    };
    let hash = mix(words.iter().fold(length ^ 0x9e37_79b9_7f4a_7c15, mix), &last);
    u32::try_from(hash >> 32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_texts_have_codes_in_the_order_in_which_they_come() {
        let texts = ["b", "", "b", "a", "", "b"];
        let distinct = Distinct::new(texts.into_iter(), 2).unwrap();
        assert_eq!(distinct.texts, ["b", "", "a"]);
        assert_eq!(distinct.codes, [0, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn a_table_grows_and_gives_up() {
        let many: Vec<String> = (0..40_000).map(|number| format!("text {number:x}")).collect();
        let twice = many.iter().flat_map(|text| [text.as_str(), text]);
        let distinct = Distinct::new(twice, 80_000).unwrap();
        assert_eq!((distinct.texts.len(), distinct.codes.len()), (40_000, 80_000));
        assert_eq!(distinct.codes[79_999], 39_999);
        assert!(Distinct::new(many.iter().map(String::as_str), 1).is_none(), "none repeats");
    }

    #[test]
    fn texts_with_one_hash_end_early() {
        let mut distinct = Distinct { texts: vec!["x"], codes: Vec::new() };
        let table = vec![(5, 0); 4_096];
        assert_eq!(distinct.find_slot(&table, 5, "x"), Some(5));
        assert_eq!(distinct.find_slot(&table, 5, "y"), None);
        distinct.texts.clear();
    }
}
