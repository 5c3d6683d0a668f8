//! A line of text input.

use super::key::Key;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextInput {
    before_cursor: String,
    after_cursor: String,
}

impl TextInput {
    /// The cursor is at the end of `text`.
    pub(super) fn new(text: &str) -> Self {
        Self { before_cursor: text.to_owned(), after_cursor: String::new() }
    }

    pub(super) fn text(&self) -> String {
        format!("{}{}", self.before_cursor, self.after_cursor)
    }

    pub(super) fn before_cursor(&self) -> &str {
        &self.before_cursor
    }

    pub(super) fn after_cursor(&self) -> &str {
        &self.after_cursor
    }

    pub(super) fn press(&mut self, key: Key) {
        match key {
            Key::Character(character) => self.before_cursor.push(character),
            Key::Backspace => {
                self.before_cursor.pop();
            }
            Key::Delete => {
                self.take_next_character();
            }
            Key::Left => {
                if let Some(previous_character) = self.before_cursor.pop() {
                    self.after_cursor.insert(0, previous_character);
                }
            }
            Key::Right => {
                if let Some(next_character) = self.take_next_character() {
                    self.before_cursor.push(next_character);
                }
            }
            Key::Home => *self = Self { before_cursor: String::new(), after_cursor: self.text() },
            Key::End => *self = Self::new(&self.text()),
            _ => {}
        }
    }

    fn take_next_character(&mut self) -> Option<char> {
        if self.after_cursor.is_empty() {
            return None;
        }
        Some(self.after_cursor.remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_deletes_characters_of_any_length() {
        let mut input = TextInput::new("aü");
        for key in
            [Key::Left, Key::Character('€'), Key::Delete, Key::Delete, Key::Home, Key::Backspace]
        {
            input.press(key);
        }
        assert_eq!((input.text().as_str(), input.before_cursor()), ("a€", ""));
        for key in [Key::Right, Key::Right, Key::Right, Key::Backspace, Key::Character('b')] {
            input.press(key);
        }
        assert_eq!((input.text().as_str(), input.before_cursor()), ("ab", "ab"));
        input.press(Key::Home);
        input.press(Key::End);
        assert_eq!(input, TextInput::new("ab"));
    }
}
