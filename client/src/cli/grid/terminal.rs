//! Reads keys from the terminal and draws the frame.

use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers, poll, read,
};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{cursor, execute, queue};
use tokio::sync::mpsc;

use super::frame::{Frame, Size, Style};
use super::key::Key;

/// Interval at which the reader thread checks whether the receiver was dropped.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A terminal event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Key(Key),
    Resized,
}

/// The terminal in raw mode on the alternate screen. Restored on drop.
pub(super) struct Terminal(());

impl Terminal {
    pub(super) fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        let terminal = Self(());
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        Ok(terminal)
    }

    pub(super) fn size() -> io::Result<Size> {
        let (columns, lines) = size()?;
        Ok(Size { columns, lines })
    }

    pub(super) fn show(&self, frame: &Frame) -> io::Result<()> {
        let mut out = io::stdout().lock();
        queue!(out, BeginSynchronizedUpdate, cursor::Hide)?;
        for (number, line) in (0_u16..).zip(&frame.lines) {
            queue!(out, cursor::MoveTo(0, number))?;
            for (text, style) in line {
                queue!(out, SetAttribute(attribute(*style)), Print(text))?;
                queue!(out, SetAttribute(Attribute::Reset))?;
            }
            queue!(out, Clear(ClearType::UntilNewLine))?;
        }
        if let Some((column, line)) = frame.text_cursor {
            queue!(out, cursor::MoveTo(column, line), cursor::Show)?;
        }
        queue!(out, EndSynchronizedUpdate)?;
        out.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Ignore the failure, because it can no longer be reported.
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

fn attribute(style: Style) -> Attribute {
    match style {
        Style::Plain => Attribute::Reset,
        Style::Dim => Attribute::Dim,
        Style::Selected => Attribute::Reverse,
        Style::Changed => Attribute::Bold,
    }
}

/// Starts a thread that reads the terminal, and returns its event channel. The channel is closed
/// when the terminal is closed.
pub(super) fn spawn_input_reader() -> mpsc::UnboundedReceiver<Input> {
    let (sender, receiver) = mpsc::unbounded_channel();
    // Reads block, so they need a separate thread.
    thread::spawn(move || {
        while !sender.is_closed() {
            let event = match poll(POLL_INTERVAL) {
                Ok(true) => read(),
                Ok(false) => continue,
                Err(error) => Err(error),
            };
            let Ok(event) = event else { break };
            if convert_event(&event).into_iter().any(|input| sender.send(input).is_err()) {
                break;
            }
        }
    });
    receiver
}

fn convert_event(event: &Event) -> Vec<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            convert_key(*key).map(Input::Key).into_iter().collect()
        }
        // Treat pasted text like typed text. A line break moves to the next row.
        Event::Paste(text) => text.chars().filter_map(pasted_key).map(Input::Key).collect(),
        Event::Resize(..) => vec![Input::Resized],
        _ => Vec::new(),
    }
}

fn pasted_key(character: char) -> Option<Key> {
    match character {
        '\n' | '\r' => Some(Key::NextRow),
        '\t' => Some(Key::Tab),
        character if character.is_control() => None,
        character => Some(Key::Character(character)),
    }
}

fn convert_key(event: KeyEvent) -> Option<Key> {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char(letter) if control => match letter.to_ascii_lowercase() {
            'c' | 'q' => Key::Quit,
            'g' => Key::GoTo,
            'o' => Key::InsertRow,
            'k' => Key::DeleteRow,
            'z' => Key::Undo,
            _ => return None,
        },
        KeyCode::Char(character) => Key::Character(character),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home if control => Key::FirstCell,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp if control => Key::PreviousSheet,
        KeyCode::PageDown if control => Key::NextSheet,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::F(2) => Key::EditCell,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Vec<Input> {
        convert_event(&Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn converts_keys() {
        let (plain, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        for (code, modifiers, expected) in [
            (KeyCode::Char('q'), plain, Some(Key::Character('q'))),
            (KeyCode::Char('Q'), KeyModifiers::SHIFT, Some(Key::Character('Q'))),
            (KeyCode::Char('q'), control, Some(Key::Quit)),
            (KeyCode::Char('c'), control, Some(Key::Quit)),
            (KeyCode::Char('x'), control, None),
            (KeyCode::PageDown, control, Some(Key::NextSheet)),
            (KeyCode::PageDown, plain, Some(Key::PageDown)),
            (KeyCode::F(2), plain, Some(Key::EditCell)),
            (KeyCode::F(3), plain, None),
        ] {
            let expected: Vec<Input> = expected.map(Input::Key).into_iter().collect();
            assert_eq!(key(code, modifiers), expected, "{code:?}");
        }
        assert_eq!(convert_event(&Event::Resize(1, 2)), [Input::Resized]);
    }

    #[test]
    fn control_characters_of_a_paste_are_ignored() {
        let pasted = convert_event(&Event::Paste("a\t1\n\u{3}\u{1b}b".to_owned()));
        let keys =
            [Key::Character('a'), Key::Tab, Key::Character('1'), Key::NextRow, Key::Character('b')];
        assert_eq!(pasted, keys.map(Input::Key));
    }
}
