//! "Did you mean": the nearest known word by edit distance.

/// A third of the word may be wrong: enough for a slip, too little for another word.
const WRONG_LETTERS_PER_WORD: usize = 3;

/// The candidate nearest to `word`, if it is near enough to be what was meant.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let folded = word.to_lowercase();
    let allowed = (word.chars().count() / WRONG_LETTERS_PER_WORD).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&folded, &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `; did you mean `x`?`, or nothing.
pub(crate) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["stack", "region", "api"];
        assert_eq!(closest("stak", known), Some("stack"));
        assert_eq!(closest("Region", known), Some("region"));
        assert_eq!(closest("apis", known), Some("api"));
        assert_eq!(closest("database", known), None);
    }

    #[test]
    fn equal_distances_always_give_the_same_answer() {
        assert_eq!(closest("bet", ["bot", "bat"]), Some("bat"));
        assert_eq!(closest("bet", ["bat", "bot"]), Some("bat"));
    }
}
