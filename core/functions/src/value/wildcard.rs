//! Case-insensitive patterns with wildcards. `?` matches one character, `*` matches any number of
//! characters, and `~` escapes `?`, `*` and `~`.

/// A parsed pattern with wildcards.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(Vec<Token>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    AnyCharacter,
    AnyCharacters,
    Character(char),
}

fn fold_case(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => character,
    }
}

pub(crate) fn fold_text(text: &str) -> Vec<char> {
    text.chars().map(fold_case).collect()
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            tokens.push(match character {
                '?' => Token::AnyCharacter,
                '*' => Token::AnyCharacters,
                '~' => match characters.next_if(|next| matches!(next, '?' | '*' | '~')) {
                    Some(next) => Token::Character(next),
                    None => Token::Character('~'),
                },
                other => Token::Character(fold_case(other)),
            });
        }
        Self(tokens)
    }

    /// Returns whether the pattern matches the whole text.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.matches_characters(&fold_text(text))
    }

    /// Returns the index of the first match at or after `start`. Both are counted in characters
    /// from 0.
    pub(crate) fn find(&self, text: &str, start: usize) -> Option<usize> {
        let characters = fold_text(text);
        let mut prefix = Self(self.0.clone());
        prefix.0.push(Token::AnyCharacters);
        (start..=characters.len()).find(|index| {
            characters.get(*index..).is_some_and(|rest| prefix.matches_characters(rest))
        })
    }

    /// Returns whether the pattern matches all characters. The number of steps is at most
    /// proportional to the pattern length times the text length.
    fn matches_characters(&self, text: &[char]) -> bool {
        let (mut token, mut index) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while index < text.len() {
            match (self.0.get(token), text.get(index)) {
                (Some(Token::AnyCharacters), _) => {
                    retry = Some((token + 1, index));
                    token += 1;
                }
                (Some(Token::AnyCharacter), Some(_)) => (token, index) = (token + 1, index + 1),
                (Some(Token::Character(expected)), Some(found)) if expected == found => {
                    (token, index) = (token + 1, index + 1);
                }
                _ => match retry {
                    Some((after_any, from)) => {
                        retry = Some((after_any, from + 1));
                        (token, index) = (after_any, from + 1);
                    }
                    None => return false,
                },
            }
        }
        self.0.iter().skip(token).all(|token| *token == Token::AnyCharacters)
    }
}
