//! Suggests a correction for a misspelled word, based on edit distance.

/// The suggested word may differ from the misspelled word by one edit per this many letters. With
/// fewer letters per edit, unrelated words would be suggested. With more, typos would not be
/// corrected.
const LETTERS_PER_EDIT: usize = 3;

/// Returns the candidate that is most similar to `word`, or `None` if no candidate is similar
/// enough. If several candidates are equally similar, returns the first in alphabetical order.
pub(crate) fn closest_candidate<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let lowercase_word = word.to_lowercase();
    let max_edits = (word.chars().count() / LETTERS_PER_EDIT).max(1);
    let mut similar_candidates = Vec::new();
    for candidate in candidates {
        let edits = strsim::damerau_levenshtein(&lowercase_word, &candidate.to_lowercase());
        if edits <= max_edits {
            similar_candidates.push((edits, candidate));
        }
    }
    let closest = similar_candidates.into_iter().min();
    closest.map(|(_, candidate)| candidate)
}

/// Returns "; did you mean `NAME`?", or an empty string if there is no suggestion.
pub(crate) fn suggestion_hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrects_a_typo_but_not_another_word() {
        let known = ["stack", "region", "api"];
        assert_eq!(closest_candidate("stak", known), Some("stack"));
        assert_eq!(closest_candidate("Region", known), Some("region"));
        assert_eq!(closest_candidate("apis", known), Some("api"));
        assert_eq!(closest_candidate("database", known), None);
    }

    #[test]
    fn breaks_ties_by_alphabetical_order() {
        assert_eq!(closest_candidate("bet", ["bot", "bat"]), Some("bat"));
        assert_eq!(closest_candidate("bet", ["bat", "bot"]), Some("bat"));
    }
}
