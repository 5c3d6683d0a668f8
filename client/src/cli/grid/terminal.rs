//! Reads key presses from the terminal and draws frames on it.

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

/// Time between two checks of the reading thread whether its inputs are still needed.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Key(Key),
    Resized,
}

/// Dropping this value restores the terminal.
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
        let mut stdout = io::stdout().lock();
        queue!(stdout, BeginSynchronizedUpdate, cursor::Hide)?;
        for (line_index, line) in (0_u16..).zip(&frame.lines) {
            queue!(stdout, cursor::MoveTo(0, line_index))?;
            for (text, style) in line {
                queue!(stdout, SetAttribute(attribute_of(*style)), Print(text))?;
                queue!(stdout, SetAttribute(Attribute::Reset))?;
            }
            queue!(stdout, Clear(ClearType::UntilNewLine))?;
        }
        if let Some((column, line_index)) = frame.text_cursor {
            queue!(stdout, cursor::MoveTo(column, line_index), cursor::Show)?;
        }
        queue!(stdout, EndSynchronizedUpdate)?;
        stdout.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Ignore errors, because `drop` cannot report them.
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

fn attribute_of(style: Style) -> Attribute {
    match style {
        Style::Plain => Attribute::Reset,
        Style::Dim => Attribute::Dim,
        Style::Selected => Attribute::Reverse,
        Style::Changed => Attribute::Bold,
    }
}

/// The channel is closed when the terminal is closed.
pub(super) fn spawn_input_reader() -> mpsc::UnboundedReceiver<Input> {
    let (sender, receiver) = mpsc::unbounded_channel();
    // Reading blocks, so it needs a thread.
    thread::spawn(move || send_inputs(&sender));
    receiver
}

fn send_inputs(sender: &mpsc::UnboundedSender<Input>) {
    while !sender.is_closed() {
        let Ok(event) = read_event(POLL_INTERVAL) else { return };
        for input in event.iter().flat_map(convert_event) {
            if sender.send(input).is_err() {
                return;
            }
        }
    }
}

fn read_event(timeout: Duration) -> io::Result<Option<Event>> {
    if !poll(timeout)? {
        return Ok(None);
    }
    read().map(Some)
}

fn convert_event(event: &Event) -> Vec<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            convert_key(*key).map(Input::Key).into_iter().collect()
        }
        // Treat pasted text as if it had been typed. A line break moves to the next row.
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
    let has_control = event.modifiers.contains(KeyModifiers::CONTROL);
    let key = match event.code {
        KeyCode::Char(letter) if has_control => return convert_control_letter(letter),
        KeyCode::Char(character) => Key::Character(character),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home if has_control => Key::FirstCell,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp if has_control => Key::PreviousSheet,
        KeyCode::PageDown if has_control => Key::NextSheet,
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
    };
    Some(key)
}

fn convert_control_letter(letter: char) -> Option<Key> {
    match letter.to_ascii_lowercase() {
        'c' | 'q' => Some(Key::Quit),
        'g' => Some(Key::GoTo),
        'o' => Some(Key::InsertRow),
        'k' => Some(Key::DeleteRow),
        'z' => Some(Key::Undo),
        _ => None,
    }
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
