//! Patterns of texts: `?` is one character, `*` any number of them, and `~` makes the next
//! character ordinary. Case is ignored.

/// A pattern with wildcards.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(Vec<Token>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    One,
    Any,
    Character(char),
}

fn fold(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => character,
    }
}

pub(crate) fn fold_text(text: &str) -> Vec<char> {
    text.chars().map(fold).collect()
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            tokens.push(match character {
                '?' => Token::One,
                '*' => Token::Any,
                '~' => match characters.next_if(|next| matches!(next, '?' | '*' | '~')) {
                    Some(next) => Token::Character(next),
                    None => Token::Character('~'),
                },
                other => Token::Character(fold(other)),
            });
        }
        Self(tokens)
    }

    /// Returns whether the whole text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.matches_characters(&fold_text(text))
    }

    /// Returns the first place from `start` on where a match begins, in characters.
    pub(crate) fn find(&self, text: &str, start: usize) -> Option<usize> {
        let characters = fold_text(text);
        let mut prefix = Self(self.0.clone());
        prefix.0.push(Token::Any);
        (start..=characters.len()).find(|place| {
            characters.get(*place..).is_some_and(|rest| prefix.matches_characters(rest))
        })
    }

    /// Takes at most as many steps as pattern length times text length.
    fn matches_characters(&self, text: &[char]) -> bool {
        let (mut token, mut place) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while place < text.len() {
            match (self.0.get(token), text.get(place)) {
                (Some(Token::Any), _) => {
                    retry = Some((token + 1, place));
                    token += 1;
                }
                (Some(Token::One), Some(_)) => (token, place) = (token + 1, place + 1),
                (Some(Token::Character(expected)), Some(found)) if expected == found => {
                    (token, place) = (token + 1, place + 1);
                }
                _ => match retry {
                    Some((after_any, from)) => {
                        retry = Some((after_any, from + 1));
                        (token, place) = (after_any, from + 1);
                    }
                    None => return false,
                },
            }
        }
        self.0.iter().skip(token).all(|token| *token == Token::Any)
    }
}
