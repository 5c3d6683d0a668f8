//! Suggests corrections for misspelled words, based on edit distance.

/// Number of letters per allowed edit. Allows for typos, but not for turning a word into a
/// different one.
const LETTERS_PER_EDIT: usize = 3;

/// Returns the candidate most similar to `word`, or `None` if none is similar enough.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let lowercase = word.to_lowercase();
    let max_edits = (word.chars().count() / LETTERS_PER_EDIT).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lowercase, &candidate.to_lowercase()), candidate)
        })
        .filter(|(edits, _)| *edits <= max_edits)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns "; did you mean `NAME`?" for a suggestion, or an empty string for `None`.
pub(crate) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrects_a_typo_but_not_another_word() {
        let known = ["stack", "region", "api"];
        assert_eq!(closest("stak", known), Some("stack"));
        assert_eq!(closest("Region", known), Some("region"));
        assert_eq!(closest("apis", known), Some("api"));
        assert_eq!(closest("database", known), None);
    }

    #[test]
    fn breaks_ties_by_alphabetical_order() {
        assert_eq!(closest("bet", ["bot", "bat"]), Some("bat"));
        assert_eq!(closest("bet", ["bat", "bot"]), Some("bat"));
    }
}
