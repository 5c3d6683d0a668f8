//! Checks that the tokens of a formula are in a valid order.

use cellar_base::limits::MAX_FORMULA_DEPTH;

use super::error::{SyntaxError, SyntaxProblem, excerpt};
use super::token::{Token, TokenKind};
use crate::reference::DELETED;

/// Checks that the tokens form a valid formula.
///
/// # Errors
/// Returns an error at the first invalid token, or at the end of an incomplete formula.
pub(crate) fn check_grammar(text: &str, tokens: &[Token]) -> Result<(), SyntaxError> {
    let mut checker = Checker {
        text,
        open: Vec::new(),
        expected: Expected::Value,
        previous: None,
        is_after_space: false,
    };
    for token in tokens {
        match token.kind {
            TokenKind::Start => {}
            TokenKind::Space => checker.is_after_space = true,
            _ => {
                checker.check_token(token)?;
                checker.previous = Some(token);
                checker.is_after_space = false;
            }
        }
    }
    checker.check_end()
}

/// The tokens that are allowed next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// A value or a prefix operator.
    Value,
    /// An argument of a function, or the `,` or `)` after an omitted argument.
    Argument,
    /// The `(` after a function name.
    FunctionParenthesis,
    /// An operator, separator or closing parenthesis after a value of this kind.
    AfterValue(ValueKind),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Constant,
    /// A value that can be a reference, such as a name or the result of a function.
    Reference,
}

/// An unclosed parenthesis or brace.
enum Open {
    Parenthesis,
    Function,
    Array {
        /// Number of values in the first row, or `None` until the row ends.
        first_row: Option<usize>,
        /// Number of values in the current row so far.
        current_row: usize,
    },
}

impl Open {
    fn characters(&self) -> (char, char) {
        match self {
            Self::Parenthesis | Self::Function => ('(', ')'),
            Self::Array { .. } => ('{', '}'),
        }
    }
}

fn is_sign(operator: &str) -> bool {
    matches!(operator, "+" | "-")
}

struct Checker<'a> {
    text: &'a str,
    open: Vec<Open>,
    expected: Expected,
    previous: Option<&'a Token>,
    is_after_space: bool,
}

impl<'a> Checker<'a> {
    fn check_token(&mut self, token: &'a Token) -> Result<(), SyntaxError> {
        if self.expected == Expected::FunctionParenthesis {
            // The tokenizer reads a word as a function only if a `(` follows, so this token is the
            // `(`.
            return self.open(token, Open::Function, Expected::Argument);
        }
        if matches!(self.open.last(), Some(Open::Array { .. })) {
            return self.check_array_token(token);
        }
        match token.kind {
            TokenKind::Start | TokenKind::Space => Ok(()),
            TokenKind::Number | TokenKind::Text | TokenKind::Boolean | TokenKind::Error => {
                self.take_value(token, ValueKind::Constant)
            }
            TokenKind::Reference(_) | TokenKind::Name | TokenKind::Unsupported(_) => {
                self.take_value(token, ValueKind::Reference)
            }
            TokenKind::Function => {
                self.take_value(token, ValueKind::Reference)?;
                self.expected = Expected::FunctionParenthesis;
                Ok(())
            }
            TokenKind::OpenParenthesis => self.open_parenthesis(token),
            TokenKind::OpenArray => {
                self.take_value(token, ValueKind::Constant)?;
                let array = Open::Array { first_row: None, current_row: 0 };
                self.open(token, array, Expected::Value)
            }
            TokenKind::CloseParenthesis => self.close_parenthesis(token),
            TokenKind::CloseArray => self.not_opened(token, '{', '}'),
            TokenKind::Comma => self.take_comma(token),
            TokenKind::Semicolon => Err(self.error(token, SyntaxProblem::Semicolon)),
            TokenKind::Operator => self.take_operator(token),
            TokenKind::At => match self.expected {
                Expected::AfterValue(_) => Err(self.no_operator(token)),
                _ => self.expect_value(),
            },
            TokenKind::Percent => match self.expected {
                Expected::AfterValue(_) => {
                    self.expected = Expected::AfterValue(ValueKind::Constant);
                    Ok(())
                }
                _ => Err(self.no_value_before(token)),
            },
            TokenKind::Spill => match self.expected {
                Expected::AfterValue(ValueKind::Reference) if !self.is_after_space => Ok(()),
                _ => Err(self.error(token, SyntaxProblem::SpillOfValue)),
            },
        }
    }

    fn take_value(&mut self, token: &Token, kind: ValueKind) -> Result<(), SyntaxError> {
        let intersects = self.is_after_space && kind == ValueKind::Reference;
        match self.expected {
            Expected::AfterValue(ValueKind::Reference) if intersects => {}
            Expected::AfterValue(_) => return Err(self.no_operator(token)),
            _ if kind == ValueKind::Constant && self.previous_text() == ":" => {
                return Err(self.error(token, SyntaxProblem::RangeOfValue));
            }
            _ => {}
        }
        self.expected = Expected::AfterValue(kind);
        Ok(())
    }

    fn take_operator(&mut self, token: &Token) -> Result<(), SyntaxError> {
        let operator = self.text_of(token);
        match self.expected {
            Expected::AfterValue(ValueKind::Constant) if operator == ":" => {
                Err(self.error(token, SyntaxProblem::RangeOfValue))
            }
            Expected::AfterValue(_) => self.expect_value(),
            _ if is_sign(operator) => self.expect_value(),
            _ => Err(self.no_value_before(token)),
        }
    }

    #[allow(clippy::unnecessary_wraps, reason = "all token checks return a result")]
    fn expect_value(&mut self) -> Result<(), SyntaxError> {
        self.expected = Expected::Value;
        Ok(())
    }

    fn open_parenthesis(&mut self, token: &Token) -> Result<(), SyntaxError> {
        let calls_result = !self.is_after_space
            && self.previous.is_some_and(|token| token.kind == TokenKind::CloseParenthesis);
        if calls_result {
            return self.open(token, Open::Function, Expected::Argument);
        }
        self.take_value(token, ValueKind::Reference)?;
        self.open(token, Open::Parenthesis, Expected::Value)
    }

    fn open(&mut self, token: &Token, open: Open, expected: Expected) -> Result<(), SyntaxError> {
        if self.open.len() >= MAX_FORMULA_DEPTH {
            return Err(self.error(token, SyntaxProblem::TooDeep));
        }
        self.open.push(open);
        self.expected = expected;
        Ok(())
    }

    fn close_parenthesis(&mut self, token: &Token) -> Result<(), SyntaxError> {
        match self.open.last() {
            None | Some(Open::Array { .. }) => return self.not_opened(token, '(', ')'),
            Some(Open::Parenthesis | Open::Function) => {}
        }
        if self.expected == Expected::Value {
            return Err(self.no_value_after_previous(token));
        }
        self.open.pop();
        self.expected = Expected::AfterValue(ValueKind::Reference);
        Ok(())
    }

    fn take_comma(&mut self, token: &Token) -> Result<(), SyntaxError> {
        match (self.open.last(), self.expected) {
            (None, _) => Err(self.error(token, SyntaxProblem::Comma)),
            (Some(_), Expected::Value) => Err(self.no_value_after_previous(token)),
            (Some(Open::Function), _) => {
                self.expected = Expected::Argument;
                Ok(())
            }
            (Some(_), Expected::AfterValue(ValueKind::Constant)) => {
                Err(self.error(token, SyntaxProblem::Comma))
            }
            (Some(_), _) => self.expect_value(),
        }
    }

    fn check_array_token(&mut self, token: &Token) -> Result<(), SyntaxError> {
        let is_after_value = matches!(self.expected, Expected::AfterValue(_));
        match token.kind {
            _ if is_after_value && self.is_array_constant(token) => Err(self.no_operator(token)),
            _ if self.is_array_constant(token) => {
                self.count_array_value();
                self.expected = Expected::AfterValue(ValueKind::Constant);
                Ok(())
            }
            TokenKind::Operator if !is_after_value && self.is_first_sign(token) => Ok(()),
            TokenKind::Comma | TokenKind::Semicolon | TokenKind::CloseArray if !is_after_value => {
                Err(self.no_value_after_previous(token))
            }
            TokenKind::Comma => self.expect_value(),
            TokenKind::Semicolon => {
                self.end_array_row(token)?;
                self.expect_value()
            }
            TokenKind::CloseArray => {
                self.end_array_row(token)?;
                self.open.pop();
                self.expected = Expected::AfterValue(ValueKind::Constant);
                Ok(())
            }
            _ => {
                let found = excerpt(self.text_of(token));
                Err(self.error(token, SyntaxProblem::NotConstant { found }))
            }
        }
    }

    /// Returns whether an array can contain the token as a constant. Only numbers can have a sign.
    fn is_array_constant(&self, token: &Token) -> bool {
        match token.kind {
            TokenKind::Number => true,
            TokenKind::Text | TokenKind::Boolean | TokenKind::Error => !self.is_after_sign(),
            TokenKind::Reference(_) => {
                self.text_of(token).eq_ignore_ascii_case(DELETED) && !self.is_after_sign()
            }
            _ => false,
        }
    }

    fn is_first_sign(&self, token: &Token) -> bool {
        is_sign(self.text_of(token)) && !self.is_after_sign()
    }

    fn is_after_sign(&self) -> bool {
        is_sign(self.previous_text())
    }

    fn count_array_value(&mut self) {
        if let Some(Open::Array { current_row, .. }) = self.open.last_mut() {
            *current_row += 1;
        }
    }

    fn end_array_row(&mut self, token: &Token) -> Result<(), SyntaxError> {
        let Some(Open::Array { first_row, current_row }) = self.open.last_mut() else {
            return Ok(());
        };
        let (first, found) = (first_row.unwrap_or(*current_row), *current_row);
        (*first_row, *current_row) = (Some(first), 0);
        if first == found {
            return Ok(());
        }
        Err(self.error(token, SyntaxProblem::UnequalRows { first, found }))
    }

    fn check_end(&self) -> Result<(), SyntaxError> {
        let end = self.text.len()..self.text.len();
        if !matches!(self.expected, Expected::AfterValue(_) | Expected::Argument) {
            let after = excerpt(self.previous_text());
            return Err(SyntaxError::at(self.text, end, SyntaxProblem::NoValueAfter { after }));
        }
        match self.open.last() {
            None => Ok(()),
            Some(open) => {
                let (open, close) = open.characters();
                Err(SyntaxError::at(self.text, end, SyntaxProblem::NotClosed { open, close }))
            }
        }
    }

    fn text_of(&self, token: &Token) -> &'a str {
        self.text.get(token.span.clone()).unwrap_or_default()
    }

    fn previous_text(&self) -> &'a str {
        self.previous.map_or("=", |token| self.text_of(token))
    }

    fn error(&self, token: &Token, problem: SyntaxProblem) -> SyntaxError {
        SyntaxError::at(self.text, token.span.clone(), problem)
    }

    fn no_operator(&self, token: &Token) -> SyntaxError {
        let before = excerpt(self.text_of(token));
        self.error(token, SyntaxProblem::NoOperator { before })
    }

    fn no_value_before(&self, token: &Token) -> SyntaxError {
        let before = excerpt(self.text_of(token));
        self.error(token, SyntaxProblem::NoValueBefore { before })
    }

    fn no_value_after_previous(&self, token: &Token) -> SyntaxError {
        let after = excerpt(self.previous_text());
        self.error(token, SyntaxProblem::NoValueAfter { after })
    }

    fn not_opened(&self, token: &Token, open: char, close: char) -> Result<(), SyntaxError> {
        Err(self.error(token, SyntaxProblem::NotOpened { open, close }))
    }
}
