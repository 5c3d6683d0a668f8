//! One line that is being typed.

use super::state::Key;

/// Text and the character before which one types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    before: String,
    behind: String,
}

impl Line {
    /// A text, typing behind its end.
    pub(super) fn of(text: &str) -> Self {
        Self { before: text.to_owned(), behind: String::new() }
    }

    pub(super) fn text(&self) -> String {
        format!("{}{}", self.before, self.behind)
    }

    /// What stands before where one types.
    pub(super) fn before(&self) -> &str {
        &self.before
    }

    pub(super) fn press(&mut self, key: Key) {
        match key {
            Key::Character(character) => self.before.push(character),
            Key::Backspace => drop(self.before.pop()),
            Key::Delete => drop(self.take_behind()),
            Key::Left => {
                if let Some(character) = self.before.pop() {
                    self.behind.insert(0, character);
                }
            }
            Key::Right => {
                let character = self.take_behind();
                self.before.extend(character);
            }
            Key::Home => *self = Self { before: String::new(), behind: self.text() },
            Key::End => *self = Self::of(&self.text()),
            _ => {}
        }
    }

    fn take_behind(&mut self) -> Option<char> {
        (!self.behind.is_empty()).then(|| self.behind.remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_any_length_are_typed_and_taken_back() {
        let mut line = Line::of("aü");
        for key in
            [Key::Left, Key::Character('€'), Key::Delete, Key::Delete, Key::Home, Key::Backspace]
        {
            line.press(key);
        }
        assert_eq!((line.text().as_str(), line.before()), ("a€", ""));
        for key in [Key::Right, Key::Right, Key::Right, Key::Backspace, Key::Character('b')] {
            line.press(key);
        }
        assert_eq!((line.text().as_str(), line.before()), ("ab", "ab"));
        line.press(Key::Home);
        line.press(Key::End);
        assert_eq!(line, Line::of("ab"));
    }
}
