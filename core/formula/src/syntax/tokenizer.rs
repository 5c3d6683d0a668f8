//! Splits formulas into tokens.

use std::ops::Range;

use cellar_base::limits::{MAX_FORMULA_BYTES, MAX_FORMULA_REFERENCES};

use super::area::{AreaText, area_at};
use super::error::{SyntaxError, SyntaxProblem, excerpt};
use super::error_value::error_value_at;
use super::token::{Token, TokenKind, Unsupported};
use super::word::{
    bracketed_bytes, is_space, number_bytes, quoted_bytes, space_bytes, starts_word, word_bytes,
};
use crate::reference::{Area, Reference, ReferenceSheet};

/// Splits a formula, including its leading `=`, into tokens.
///
/// # Errors
/// Returns an error if the formula is too long, contains too many references, or has a part that is
/// not a valid token.
pub(crate) fn tokenize(text: &str) -> Result<Vec<Token>, SyntaxError> {
    if text.len() > MAX_FORMULA_BYTES {
        return Err(SyntaxError::at(
            text,
            0..text.len(),
            SyntaxProblem::TooLong { bytes: text.len() },
        ));
    }
    if !text.starts_with('=') {
        return Err(SyntaxError::at(text, 0..0, SyntaxProblem::NoStart));
    }
    check_control_characters(text)?;
    let tokens = vec![Token { kind: TokenKind::Start, span: 0..1 }];
    let mut tokenizer = Tokenizer { text, position: 1, tokens, reference_count: 0 };
    while let Some(first) = tokenizer.rest().chars().next() {
        tokenizer.read_token(first)?;
    }
    Ok(tokenizer.tokens)
}

/// Rejects control characters, because the stored form of formulas uses them to mark references.
fn check_control_characters(text: &str) -> Result<(), SyntaxError> {
    let is_rejected =
        |character: char| character.is_control() && !matches!(character, '\t' | '\n' | '\r');
    match text.char_indices().find(|(_, character)| is_rejected(*character)) {
        None => Ok(()),
        Some((start, character)) => {
            let span = start..start + character.len_utf8();
            Err(SyntaxError::at(text, span, SyntaxProblem::ControlCharacter { character }))
        }
    }
}

struct Tokenizer<'a> {
    text: &'a str,
    position: usize,
    tokens: Vec<Token>,
    reference_count: usize,
}

impl<'a> Tokenizer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn push(&mut self, kind: TokenKind, bytes: usize) {
        let end = self.position.saturating_add(bytes);
        self.tokens.push(Token { kind, span: self.position..end });
        self.position = end;
    }

    fn push_reference(&mut self, reference: Reference, bytes: usize) -> Result<(), SyntaxError> {
        self.reference_count += 1;
        if self.reference_count > MAX_FORMULA_REFERENCES {
            return Err(self.error(bytes, SyntaxProblem::TooManyReferences));
        }
        self.push(TokenKind::Reference(reference), bytes);
        Ok(())
    }

    /// Creates an error for the next `bytes` bytes of the text.
    fn error(&self, bytes: usize, problem: SyntaxProblem) -> SyntaxError {
        let span: Range<usize> = self.position..self.position.saturating_add(bytes);
        SyntaxError::at(self.text, span, problem)
    }

    fn read_token(&mut self, first: char) -> Result<(), SyntaxError> {
        match first {
            '"' => self.read_text(),
            '\'' => self.read_quoted_sheet(),
            '#' => self.read_error_value(),
            '[' => self.read_brackets(),
            '0'..='9' | '.' => self.read_number(),
            _ if u8::try_from(first).is_ok_and(is_space) => {
                self.push(TokenKind::Space, space_bytes(self.rest()));
                Ok(())
            }
            _ if starts_word(first) => self.read_word(),
            _ => self.read_symbol(first),
        }
    }

    fn read_symbol(&mut self, first: char) -> Result<(), SyntaxError> {
        let kind = match first {
            '(' => TokenKind::OpenParenthesis,
            ')' => TokenKind::CloseParenthesis,
            '{' => TokenKind::OpenArray,
            '}' => TokenKind::CloseArray,
            ',' => TokenKind::Comma,
            ';' => TokenKind::Semicolon,
            '@' => TokenKind::At,
            '%' => TokenKind::Percent,
            '+' | '-' | '*' | '/' | '^' | '&' | '=' | '<' | '>' | ':' => TokenKind::Operator,
            '!' => return Err(self.error(1, SyntaxProblem::NoSheet)),
            character => {
                let problem = SyntaxProblem::Character { character };
                return Err(self.error(first.len_utf8(), problem));
            }
        };
        let is_double = ["<=", ">=", "<>"].iter().any(|pair| self.rest().starts_with(pair));
        self.push(kind, if is_double { 2 } else { 1 });
        Ok(())
    }

    fn read_text(&mut self) -> Result<(), SyntaxError> {
        let Some(bytes) = quoted_bytes(self.rest(), '"') else {
            return Err(self.error(self.rest().len(), SyntaxProblem::Unclosed { quote: '"' }));
        };
        self.push(TokenKind::Text, bytes);
        Ok(())
    }

    fn read_number(&mut self) -> Result<(), SyntaxError> {
        if let Some(AreaText { area, bytes }) = area_at(self.rest()) {
            return self.push_reference(Reference { sheet: ReferenceSheet::Own, area }, bytes);
        }
        let word_end = word_bytes(self.rest());
        let (word, after_word) = self.rest().split_at_checked(word_end).unwrap_or_default();
        if after_word.starts_with('!') {
            let name = excerpt(word);
            return Err(self.error(word_end, SyntaxProblem::UnquotedSheet { name }));
        }
        match number_bytes(self.rest()) {
            0 => Err(self.error(1, SyntaxProblem::Character { character: '.' })),
            bytes => {
                self.push(TokenKind::Number, bytes);
                match word_bytes(self.rest()) {
                    0 => Ok(()),
                    word_end => {
                        let before = excerpt(self.rest().get(..word_end).unwrap_or_default());
                        Err(self.error(word_end, SyntaxProblem::NoOperator { before }))
                    }
                }
            }
        }
    }

    fn read_error_value(&mut self) -> Result<(), SyntaxError> {
        let Some(value) = error_value_at(self.rest()) else {
            if self.tokens.last().is_some_and(|token| token.kind.can_spill()) {
                self.push(TokenKind::Spill, 1);
                return Ok(());
            }
            let found = excerpt(self.rest());
            return Err(self.error(1, SyntaxProblem::UnknownError { found }));
        };
        if value != crate::reference::DELETED {
            self.push(TokenKind::Error, value.len());
            return Ok(());
        }
        // `#REF!A1` is a reference to a deleted sheet.
        let after_value = self.rest().get(value.len()..).unwrap_or_default();
        let area_bytes = area_at(after_value).map_or(0, |area| area.bytes);
        let deleted = Reference { sheet: ReferenceSheet::Own, area: Area::Deleted };
        self.push_reference(deleted, value.len() + area_bytes)
    }

    fn read_word(&mut self) -> Result<(), SyntaxError> {
        let (word, after_word) =
            self.rest().split_at_checked(word_bytes(self.rest())).unwrap_or_default();
        let bytes = word.len();
        if let Some(last_bytes) = last_sheet_bytes(after_word)
            && is_unquoted_sheet_in_files(word)
        {
            return self.read_after_sheet("", bytes + last_bytes, Some(Unsupported::Sheets));
        }
        if let Some(AreaText { area, bytes }) = area_at(self.rest()) {
            return self.push_reference(Reference { sheet: ReferenceSheet::Own, area }, bytes);
        }
        if word.contains('$') {
            let found = excerpt(word);
            return Err(self.error(bytes, SyntaxProblem::NotAReference { found }));
        }
        if after_word.starts_with('!') {
            let unsupported = contains_file_name(word).then_some(Unsupported::File);
            return self.read_after_sheet(word, bytes + 1, unsupported);
        }
        if after_word.starts_with('[') {
            return self.read_table(bytes);
        }
        let is_function =
            after_word.get(space_bytes(after_word)..).unwrap_or_default().starts_with('(');
        let is_boolean = word.eq_ignore_ascii_case("TRUE") || word.eq_ignore_ascii_case("FALSE");
        let kind = match (is_function, is_boolean) {
            (true, _) => TokenKind::Function,
            (false, true) => TokenKind::Boolean,
            (false, false) => TokenKind::Name,
        };
        self.push(kind, bytes);
        Ok(())
    }

    fn read_quoted_sheet(&mut self) -> Result<(), SyntaxError> {
        let Some(bytes) = quoted_bytes(self.rest(), '\'') else {
            return Err(self.error(self.rest().len(), SyntaxProblem::Unclosed { quote: '\'' }));
        };
        let (quoted, after_quoted) = self.rest().split_at_checked(bytes).unwrap_or_default();
        if !after_quoted.starts_with('!') {
            return Err(self.error(bytes, SyntaxProblem::NoCells));
        }
        let inside = quoted.get(1..bytes.saturating_sub(1)).unwrap_or_default();
        let name = inside.replace("''", "'");
        if name.is_empty() {
            return Err(self.error(bytes + 1, SyntaxProblem::NoSheet));
        }
        let unsupported = if contains_file_name(&name) {
            Some(Unsupported::File)
        } else if name.contains(':') {
            Some(Unsupported::Sheets)
        } else {
            None
        };
        self.read_after_sheet(&name, bytes + 1, unsupported)
    }

    /// Reads the area or name after a sheet name. `prefix_bytes` is the length of the sheet name,
    /// including its quotes and the `!`.
    fn read_after_sheet(
        &mut self,
        name: &str,
        prefix_bytes: usize,
        unsupported: Option<Unsupported>,
    ) -> Result<(), SyntaxError> {
        let after_prefix = self.rest().get(prefix_bytes..).unwrap_or_default();
        let (area, target_bytes) = match (error_value_at(after_prefix), area_at(after_prefix)) {
            (Some(value), _) if value == crate::reference::DELETED => {
                (Some(Area::Deleted), value.len())
            }
            (_, Some(AreaText { area, bytes })) => (Some(area), bytes),
            (_, None) => (None, word_bytes(after_prefix)),
        };
        if target_bytes == 0 {
            return Err(self.error(prefix_bytes, SyntaxProblem::NoCells));
        }
        let bytes = prefix_bytes + target_bytes;
        match (area, unsupported) {
            (_, Some(unsupported)) => self.push(TokenKind::Unsupported(unsupported), bytes),
            (None, None) => self.push(TokenKind::Unsupported(Unsupported::SheetName), bytes),
            (Some(area), None) => {
                let sheet = ReferenceSheet::Unknown(name.to_owned());
                return self.push_reference(Reference { sheet, area }, bytes);
            }
        }
        Ok(())
    }

    /// Reads a structured reference. `name_bytes` is the length of the table name.
    fn read_table(&mut self, name_bytes: usize) -> Result<(), SyntaxError> {
        let bracket_bytes = self.bracket_bytes(name_bytes)?;
        self.push(TokenKind::Unsupported(Unsupported::Table), name_bytes + bracket_bytes);
        Ok(())
    }

    /// Reads an external reference, such as `[1]Sheet1!A1`, or a reference to the table that
    /// contains the formula, such as `[@Amount]`.
    fn read_brackets(&mut self) -> Result<(), SyntaxError> {
        let bracket_bytes = self.bracket_bytes(0)?;
        let after_brackets = self.rest().get(bracket_bytes..).unwrap_or_default();
        let sheet_bytes = word_bytes(after_brackets);
        if after_brackets.get(sheet_bytes..).unwrap_or_default().starts_with('!') {
            let prefix_bytes = bracket_bytes + sheet_bytes + 1;
            return self.read_after_sheet("", prefix_bytes, Some(Unsupported::File));
        }
        self.push(TokenKind::Unsupported(Unsupported::Table), bracket_bytes);
        Ok(())
    }

    fn bracket_bytes(&self, offset: usize) -> Result<usize, SyntaxError> {
        let text = self.rest().get(offset..).unwrap_or_default();
        let problem = SyntaxProblem::NotClosed { open: '[', close: ']' };
        bracketed_bytes(text).ok_or_else(|| self.error(self.rest().len(), problem))
    }
}

/// Returns the length in bytes of the second part of a 3D reference, such as `:Sheet3!`, at the
/// start of `text`, or `None` if there is none.
fn last_sheet_bytes(text: &str) -> Option<usize> {
    let last_sheet = text.strip_prefix(':')?;
    let bytes = word_bytes(last_sheet);
    let has_sheet = bytes > 0 && last_sheet.get(bytes..)?.starts_with('!');
    has_sheet.then_some(1 + bytes + 1)
}

/// Returns whether the name before a `!` contains a file name. Sheet names cannot contain `[`, `\`
/// or `/`.
fn contains_file_name(name: &str) -> bool {
    name.contains(['[', '\\', '/'])
}

/// Returns whether files can contain the word as an unquoted sheet name. For example, `Data1` is a
/// cell in Cellar, but a valid sheet name in files, whose sheets have fewer columns.
fn is_unquoted_sheet_in_files(word: &str) -> bool {
    const MAX_FILE_ROWS: u32 = 1_048_576;
    const MAX_FILE_COLUMNS: u32 = 16_384;
    let is_cell_in_files = match area_at(word) {
        Some(AreaText { area: Area::Cell { row, column }, .. }) => {
            row.index < MAX_FILE_ROWS && column.index < MAX_FILE_COLUMNS
        }
        _ => false,
    };
    !word.contains('$') && !is_cell_in_files
}

impl TokenKind {
    /// Returns whether a `#` directly after the token is the spill operator.
    fn can_spill(&self) -> bool {
        matches!(
            self,
            Self::Reference(_) | Self::Name | Self::CloseParenthesis | Self::Unsupported(_)
        )
    }
}
