//! Splits number format codes into sections of tokens.

use super::MAX_SECTIONS;
use super::condition::Condition;
use super::error::{NumberFormatError, NumberFormatFault};
use super::rules::Rules;
use super::token::{DateUnit, Placeholder, Token, TokenKind};

/// Numbers of the colors `[Color1]` to `[Color56]`.
const COLOR_NUMBERS: std::ops::RangeInclusive<u8> = 1..=56;
const COLOR_NAMES: [&str; 8] =
    ["Black", "Blue", "Cyan", "Green", "Magenta", "Red", "White", "Yellow"];

/// Returns the tokens of each section. Colors and languages are omitted, because they are not
/// displayed.
pub(super) fn split_sections(
    code: &str,
    rules: Rules,
) -> Result<Vec<Vec<Token>>, NumberFormatError> {
    let mut lexer = Lexer {
        rules,
        remaining: code,
        position: 0,
        token_position: 1,
        previous: None,
        finished: Vec::new(),
        section: Vec::new(),
    };
    while !lexer.remaining.is_empty() {
        lexer.token_position = lexer.position + 1;
        let position = lexer.token_position;
        lexer.read_token().map_err(|fault| fault.at(position))?;
    }
    lexer.finished.push(lexer.section);
    Ok(lexer.finished)
}

struct Lexer<'a> {
    rules: Rules,
    remaining: &'a str,
    /// Number of characters that were read.
    position: usize,
    /// Position of the current token's first character, counted from 1.
    token_position: usize,
    /// The last character that was read.
    previous: Option<char>,
    finished: Vec<Vec<Token>>,
    section: Vec<Token>,
}

impl Lexer<'_> {
    fn read_token(&mut self) -> Result<(), NumberFormatFault> {
        if let Some(kind) = self.read_keyword() {
            self.push(kind);
            return Ok(());
        }
        let before = self.previous;
        let Some(character) = self.read_character() else { return Ok(()) };
        match character {
            '0' => self.push(TokenKind::Placeholder(Placeholder::Zero)),
            '?' => self.push(TokenKind::Placeholder(Placeholder::Space)),
            '#' => self.push(TokenKind::Placeholder(Placeholder::Nothing)),
            '1'..='9' => self.push(TokenKind::Digit(character)),
            '.' => self.push(TokenKind::Point),
            ',' => self.push(TokenKind::Comma),
            '/' => self.push(TokenKind::Slash),
            '%' => self.push(TokenKind::Percent),
            '@' => self.push(TokenKind::Text),
            ';' => self.finish_section()?,
            '"' => self.read_quoted_text()?,
            '\\' => {
                let literal = self.read_escaped(character)?;
                self.push(TokenKind::Literal(literal));
            }
            '_' => {
                self.read_escaped(character)?;
                self.push(TokenKind::Literal(' '));
            }
            '*' => {
                self.read_escaped(character)?;
            }
            '[' => self.read_brackets()?,
            ']' => return Err(NumberFormatFault::UnknownCharacter(character)),
            'e' | 'E' if self.remaining.starts_with(['+', '-']) => {
                let shows_plus = self.read_character() == Some('+');
                self.push(TokenKind::Exponent { shows_plus });
            }
            letter if letter.is_ascii_alphabetic() => self.read_letter(before, letter)?,
            control if control.is_control() && self.rules == Rules::Cells => {
                return Err(NumberFormatFault::UnknownCharacter(control));
            }
            literal => self.push(TokenKind::Literal(literal)),
        }
        Ok(())
    }

    fn push(&mut self, kind: TokenKind) {
        self.section.push(Token { kind, position: self.token_position });
    }

    fn read_character(&mut self) -> Option<char> {
        let mut characters = self.remaining.chars();
        let character = characters.next()?;
        self.remaining = characters.as_str();
        self.position += 1;
        self.previous = Some(character);
        Some(character)
    }

    fn read_keyword(&mut self) -> Option<TokenKind> {
        if self.read_word("General").is_some() {
            return Some(TokenKind::General);
        }
        if self.read_word("AM/PM").is_some() {
            return Some(TokenKind::Date(DateUnit::AmPm));
        }
        let word = self.read_word("A/P")?;
        let (am, pm) = (word.chars().next()?, word.chars().next_back()?);
        Some(TokenKind::Date(DateUnit::LetterAmPm { am, pm }))
    }

    /// Reads `word` in any case, and returns it as it is in the code.
    fn read_word(&mut self, word: &str) -> Option<String> {
        let (found, _) = self.remaining.split_at_checked(word.len())?;
        if !found.eq_ignore_ascii_case(word) {
            return None;
        }
        (0..word.len()).map(|_| self.read_character()).collect()
    }

    fn finish_section(&mut self) -> Result<(), NumberFormatFault> {
        self.finished.push(std::mem::take(&mut self.section));
        if self.finished.len() == MAX_SECTIONS {
            return Err(NumberFormatFault::TooManySections);
        }
        Ok(())
    }

    fn read_quoted_text(&mut self) -> Result<(), NumberFormatFault> {
        loop {
            match self.read_character() {
                None => return Err(NumberFormatFault::UnclosedQuote),
                Some('"') => return Ok(()),
                Some(literal) => self.push(TokenKind::Literal(literal)),
            }
        }
    }

    fn read_escaped(&mut self, escape: char) -> Result<char, NumberFormatFault> {
        self.read_character().ok_or(NumberFormatFault::MissingCharacter(escape))
    }

    fn read_letter(&mut self, before: Option<char>, letter: char) -> Result<(), NumberFormatFault> {
        let lowercase = letter.to_ascii_lowercase();
        if !"ymdhse".contains(lowercase) {
            return self.read_text_letter(before, letter);
        }
        let mut width = 1;
        while self.remaining.starts_with([lowercase, lowercase.to_ascii_uppercase()]) {
            self.read_character();
            width += 1;
        }
        self.push(TokenKind::Date(match lowercase {
            'y' => DateUnit::Year { width },
            'm' => DateUnit::Month { width },
            'd' => DateUnit::Day { width },
            'h' => DateUnit::Hour { width },
            's' => DateUnit::Second { width },
            // `e` is the year of an era. The only era that is displayed is the common one.
            _ => DateUnit::Year { width: 4 },
        }));
        Ok(())
    }

    /// Cells display single letters such as the x in `0.0x`. Words must be in quotes, so that a
    /// misspelled format is not displayed as text.
    fn read_text_letter(
        &mut self,
        before: Option<char>,
        letter: char,
    ) -> Result<(), NumberFormatFault> {
        let after = self.remaining.chars().next();
        let is_alone = [before, after].into_iter().flatten().all(|neighbor| {
            let is_beside_date = letter == 'T' && "ymdhsYMDHS".contains(neighbor);
            is_beside_date || !neighbor.is_ascii_alphabetic()
        });
        let is_text = is_alone || self.rules == Rules::Excel;
        if !is_text || "bgn".contains(letter.to_ascii_lowercase()) {
            return Err(NumberFormatFault::UnknownLetter(letter));
        }
        self.push(TokenKind::Literal(letter));
        Ok(())
    }

    fn read_brackets(&mut self) -> Result<(), NumberFormatFault> {
        let Some((content, _)) = self.remaining.split_once(']') else {
            return Err(NumberFormatFault::UnclosedBracket);
        };
        let content = content.to_owned();
        for _ in 0..=content.chars().count() {
            self.read_character();
        }
        if let Some(currency) = content.strip_prefix('$') {
            // The language of `[$€-407]` is ignored: names of months are in English.
            let (symbol, _) = currency.split_once('-').unwrap_or((currency, ""));
            symbol.chars().for_each(|literal| self.push(TokenKind::Literal(literal)));
        } else if let Some(unit) = parse_elapsed_unit(&content) {
            self.push(TokenKind::Date(unit));
        } else if let Some(condition) = Condition::parse(&content) {
            self.push(TokenKind::Condition(condition));
        } else if !is_color(&content) {
            return Err(NumberFormatFault::UnknownBrackets(content));
        }
        Ok(())
    }
}

fn parse_elapsed_unit(content: &str) -> Option<DateUnit> {
    let first = content.chars().next()?.to_ascii_lowercase();
    if !content.chars().all(|letter| letter.to_ascii_lowercase() == first) {
        return None;
    }
    let width = content.len();
    match first {
        'h' => Some(DateUnit::ElapsedHours { width }),
        'm' => Some(DateUnit::ElapsedMinutes { width }),
        's' => Some(DateUnit::ElapsedSeconds { width }),
        _ => None,
    }
}

fn is_color(content: &str) -> bool {
    if COLOR_NAMES.iter().any(|name| name.eq_ignore_ascii_case(content)) {
        return true;
    }
    let Some((word, number)) = content.split_at_checked("Color".len()) else { return false };
    let number = number.trim_start().parse::<u8>().ok();
    word.eq_ignore_ascii_case("Color") && number.is_some_and(|it| COLOR_NUMBERS.contains(&it))
}
