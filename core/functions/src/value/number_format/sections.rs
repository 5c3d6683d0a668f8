//! The sections of a number format.

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Literal(String),
    /// `0`, `#` or `?`.
    Digit(char),
    Point,
    Comma,
    Percent,
    /// `E+` or `E-`.
    Exponent(bool),
    Slash,
    /// A letter of a date and its repetitions.
    Date(char, usize),
    /// Elapsed hours, minutes or seconds, such as `[h]`.
    Elapsed(char, usize),
    /// `AM/PM` or `A/P`.
    Half(bool),
    /// Digits of the fraction of a second.
    Fraction(usize),
    Text,
    General,
}

/// A condition such as `[>=100]`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Condition {
    comparison: &'static str,
    limit: f64,
}

impl Condition {
    fn holds(self, number: f64) -> bool {
        match self.comparison {
            ">=" => number >= self.limit,
            "<=" => number <= self.limit,
            "<>" => number != self.limit,
            ">" => number > self.limit,
            "<" => number < self.limit,
            _ => number == self.limit,
        }
    }
}

/// A section of a number format.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Section {
    pub(super) tokens: Vec<Token>,
    condition: Option<Condition>,
}

impl Section {
    pub(super) fn is_date(&self) -> bool {
        self.tokens
            .iter()
            .any(|token| matches!(token, Token::Date(..) | Token::Elapsed(..) | Token::Half(_)))
    }

    pub(super) fn is_general(&self) -> bool {
        self.tokens.contains(&Token::General)
    }

    pub(super) fn has_text_place(&self) -> bool {
        self.tokens.contains(&Token::Text)
    }

    /// Replaces the placeholder of the whole value.
    pub(super) fn with_text(&self, text: &str) -> String {
        self.tokens
            .iter()
            .map(|token| match token {
                Token::Text | Token::General => text,
                Token::Literal(literal) => literal,
                _ => "",
            })
            .collect()
    }

    pub(super) fn with_general(&self, text: &str) -> String {
        self.with_text(text)
    }
}

/// Splits a format at semicolons and parses the sections. Returns `None` if it is not valid.
pub(super) fn split_sections(format: &str) -> Option<Vec<Section>> {
    let mut sections = vec![Section::default()];
    let characters: Vec<char> = format.chars().collect();
    let mut place = 0;
    while let Some(character) = characters.get(place) {
        if *character == ';' {
            sections.push(Section::default());
            place += 1;
            continue;
        }
        let section = sections.last_mut()?;
        place += next_token(characters.get(place..)?, section)?;
    }
    if sections.len() > 4 {
        return None;
    }
    sections.iter_mut().for_each(resolve_minutes);
    Some(sections)
}

fn starts_with(characters: &[char], text: &str) -> bool {
    let mut own = characters.iter();
    text.chars().all(|wanted| own.next().is_some_and(|own| own.eq_ignore_ascii_case(&wanted)))
}

/// Adds the next token to a section and returns the number of its characters.
fn next_token(characters: &[char], section: &mut Section) -> Option<usize> {
    let first = *characters.first()?;
    let repetitions =
        characters.iter().take_while(|character| character.eq_ignore_ascii_case(&first)).count();
    if starts_with(characters, "general") {
        section.tokens.push(Token::General);
        return Some(7);
    }
    for (text, is_long) in [("am/pm", true), ("a/p", false)] {
        if starts_with(characters, text) {
            section.tokens.push(Token::Half(is_long));
            return Some(text.len());
        }
    }
    let (token, length) = match first {
        '0' | '#' | '?' => (Token::Digit(first), 1),
        '.' => return Some(point(characters, section)),
        ',' => (Token::Comma, 1),
        '%' => (Token::Percent, 1),
        '@' => (Token::Text, 1),
        '/' => (Token::Slash, 1),
        'e' | 'E' if matches!(characters.get(1), Some('+' | '-')) => {
            (Token::Exponent(characters.get(1) == Some(&'+')), 2)
        }
        'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' => {
            (Token::Date(first.to_ascii_lowercase(), repetitions), repetitions)
        }
        '"' => {
            let text: String = characters.iter().skip(1).take_while(|next| **next != '"').collect();
            let length = text.chars().count() + 2;
            (Token::Literal(text), length)
        }
        '\\' => (Token::Literal(characters.get(1).map(char::to_string).unwrap_or_default()), 2),
        '_' => (Token::Literal(" ".to_owned()), 2),
        '*' => (Token::Literal(String::new()), 2),
        '[' => return bracket(characters, section),
        'e' | 'E' | 'b' | 'B' | 'g' | 'G' | 'n' | 'N' => return None,
        other => (Token::Literal(other.to_string()), 1),
    };
    section.tokens.push(token);
    Some(length)
}

/// A point after seconds starts the fraction of a second.
fn point(characters: &[char], section: &mut Section) -> usize {
    let zeros = characters.iter().skip(1).take_while(|digit| **digit == '0').count();
    let last = section.tokens.last();
    let is_fraction = matches!(last, Some(Token::Date('s', _) | Token::Elapsed('s', _)));
    if is_fraction && zeros > 0 {
        section.tokens.push(Token::Fraction(zeros));
        return zeros + 1;
    }
    section.tokens.push(Token::Point);
    1
}

fn bracket(characters: &[char], section: &mut Section) -> Option<usize> {
    let end = characters.iter().position(|character| *character == ']')?;
    let inside: String = characters.get(1..end)?.iter().collect();
    let lower = inside.to_lowercase();
    let first = lower.chars().next()?;
    if matches!(first, 'h' | 'm' | 's') && lower.chars().all(|letter| letter == first) {
        section.tokens.push(Token::Elapsed(first, lower.len()));
    } else if let Some(comparison) =
        [">=", "<=", "<>", ">", "<", "="].into_iter().find(|sign| lower.starts_with(sign))
    {
        let limit = lower.get(comparison.len()..)?.trim().parse().ok()?;
        section.condition = Some(Condition { comparison, limit });
    } else if first == '$' {
        let symbol: String = inside.chars().skip(1).take_while(|next| *next != '-').collect();
        section.tokens.push(Token::Literal(symbol));
    }
    Some(end + 1)
}

/// `m` is minutes after hours or before seconds, and months elsewhere. Minutes are marked with `n`.
fn resolve_minutes(section: &mut Section) {
    let units: Vec<(usize, char)> = section
        .tokens
        .iter()
        .enumerate()
        .filter_map(|(place, token)| match token {
            Token::Date(letter, _) | Token::Elapsed(letter, _) => Some((place, *letter)),
            _ => None,
        })
        .collect();
    for (index, (place, letter)) in units.iter().enumerate() {
        if *letter != 'm' {
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| units.get(index)).map(|unit| unit.1);
        let after = units.get(index + 1).map(|unit| unit.1);
        let is_minute = before == Some('h') || after == Some('s');
        if let (true, Some(Token::Date(letter, length))) =
            (is_minute, section.tokens.get_mut(*place))
            && *length <= 2
        {
            *letter = 'n';
        }
    }
}

/// Returns the section for a number, and the number to show in it.
pub(super) fn choose_section(sections: &[Section], number: f64) -> Option<(&Section, f64)> {
    let numeric: Vec<&Section> = match sections {
        [.., last] if sections.len() > 1 && last.has_text_place() => {
            sections.iter().take(sections.len() - 1).collect()
        }
        _ => sections.iter().take(3).collect(),
    };
    if numeric.iter().any(|section| section.condition.is_some()) {
        let chosen = numeric.iter().enumerate().find(|(index, section)| match section.condition {
            Some(condition) => condition.holds(number),
            None => *index > 0,
        });
        let (index, section) = chosen.or(numeric.iter().enumerate().next_back())?;
        let hides_sign = number < 0.0 && index > 0;
        return Some((section, if hides_sign { number.abs() } else { number }));
    }
    match numeric.as_slice() {
        [positive] => Some((positive, number)),
        [_, negative] if number < 0.0 => Some((negative, -number)),
        [positive, _] => Some((positive, number)),
        [_, negative, ..] if number < 0.0 => Some((negative, -number)),
        [_, _, zero, ..] if number == 0.0 => Some((zero, number)),
        [positive, ..] => Some((positive, number)),
        [] => None,
    }
}
