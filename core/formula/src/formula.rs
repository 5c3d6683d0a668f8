//! Parsed formulas.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::expression::{Expression, build_expression};
use crate::reference::{Reference, ReferenceSheet, SheetNames, write_reference};
use crate::syntax::{SyntaxError, SyntaxProblem, Token, TokenKind, check_grammar, tokenize};

/// A formula whose syntax is correct.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    tokens: Vec<Token>,
    expression: Expression,
}

/// A reference and its place in the text of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedReference<'a> {
    /// The reference.
    pub reference: &'a Reference,
    /// Place of the reference in the text, in bytes.
    pub span: Range<usize>,
}

impl Formula {
    /// Parses a formula with its `=`. References have the numbers of the sheets that they name, or
    /// keep the name if there is no such sheet.
    ///
    /// References that are not calculated, such as those to tables, are kept as text. Use
    /// [`Formula::check_supported`] to refuse them.
    ///
    /// # Errors
    /// Returns the first error in the syntax. Takes time in proportion to the length of the text.
    pub fn parse(text: &str, names: &impl SheetNames) -> Result<Self, SyntaxError> {
        let mut tokens = tokenize(text)?;
        check_grammar(text, &tokens)?;
        for token in &mut tokens {
            if let TokenKind::Reference(reference) = &mut token.kind
                && let ReferenceSheet::Unknown(name) = &reference.sheet
                && let Some(number) = names.number(name)
            {
                reference.sheet = ReferenceSheet::Numbered(number);
            }
        }
        let expression = build_expression(text, &tokens)?;
        Ok(Self { text: text.to_owned(), tokens, expression })
    }

    /// Checks that every reference is calculated. `[y]` is an optional parameter in
    /// `LAMBDA(x,[y],x+y)`, and elsewhere a reference to a table.
    ///
    /// # Errors
    /// Returns the first reference that is only kept as text, and what to write instead.
    pub fn check_supported(&self) -> Result<(), SyntaxError> {
        let mut optional_parameters = self.expression.optional_parameters().into_iter();
        for token in &self.tokens {
            if let TokenKind::Unsupported(unsupported) = token.kind
                && optional_parameters.next() != Some(true)
            {
                let problem = SyntaxProblem::Unsupported { reason: unsupported.reason() };
                return Err(SyntaxError::at(&self.text, token.span.clone(), problem));
            }
        }
        Ok(())
    }

    /// Returns the text that was parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the tokens in the order of the text, without gaps.
    #[must_use]
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Returns what the formula calculates, as a tree.
    #[must_use]
    pub fn expression(&self) -> &Expression {
        &self.expression
    }

    /// Returns the references in the order of the text.
    pub fn references(&self) -> impl Iterator<Item = PlacedReference<'_>> {
        self.tokens.iter().filter_map(|token| match &token.kind {
            TokenKind::Reference(reference) => {
                Some(PlacedReference { reference, span: token.span.clone() })
            }
            _ => None,
        })
    }

    /// Returns the names of the functions as they are stored in files, in upper case and in the
    /// order of the text. Files mark functions that Excel has added since 2010 with `_xlfn.`.
    pub fn functions(&self) -> impl Iterator<Item = String> + '_ {
        self.tokens
            .iter()
            .filter(|token| token.kind == TokenKind::Function)
            .map(|token| self.text_of(token).to_ascii_uppercase())
    }

    /// Returns the canonical text: functions, booleans and references in upper case, ranges from
    /// the top left to the bottom right, and sheets with their names at this time. Numbers, texts,
    /// names and spaces stay as they were written.
    #[must_use]
    pub fn canonical_text(&self, names: &impl SheetNames) -> String {
        self.text_with(|reference, text| write_reference(reference, names, text))
    }

    /// Returns the formula with each reference replaced.
    #[must_use]
    pub fn map_references(&self, change: impl Fn(&Reference) -> Reference) -> ChangedFormula<'_> {
        let references = self.references().map(|placed| change(placed.reference)).collect();
        ChangedFormula { formula: self, references }
    }

    /// Returns the canonical text. `write_reference` appends each reference.
    pub(crate) fn text_with(
        &self,
        mut write_reference: impl FnMut(&Reference, &mut String),
    ) -> String {
        let parameters = self.called_names();
        let mut text = String::with_capacity(self.text.len());
        let mut previous_kind = &TokenKind::Start;
        for token in &self.tokens {
            let token_text = self.text_of(token);
            match &token.kind {
                TokenKind::Reference(reference) => write_reference(reference, &mut text),
                TokenKind::Boolean | TokenKind::Error => {
                    text.push_str(&token_text.to_ascii_uppercase());
                }
                TokenKind::Function if !parameters.contains(&token_text.to_ascii_uppercase()) => {
                    text.push_str(&token_text.to_ascii_uppercase());
                }
                TokenKind::Space if *previous_kind == TokenKind::Function => {}
                _ => text.push_str(token_text),
            }
            previous_kind = &token.kind;
        }
        text
    }

    /// Returns the names in upper case that `LET` or `LAMBDA` may define, and the formula calls as
    /// functions. Their case is kept, so that it is the same everywhere in the formula.
    fn called_names(&self) -> BTreeSet<String> {
        let names = self.tokens.iter().filter(|token| token.kind == TokenKind::Name);
        names.map(|token| self.text_of(token).to_ascii_uppercase()).collect()
    }

    fn text_of(&self, token: &Token) -> &str {
        self.text.get(token.span.clone()).unwrap_or_default()
    }
}

/// A formula with changed references.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedFormula<'a> {
    formula: &'a Formula,
    references: Vec<Reference>,
}

impl ChangedFormula<'_> {
    /// Returns the canonical text.
    #[must_use]
    pub fn text(&self, names: &impl SheetNames) -> String {
        let mut references = self.references.iter();
        self.formula.text_with(|_, text| {
            if let Some(reference) = references.next() {
                write_reference(reference, names, text);
            }
        })
    }

    /// Returns the changed references in the order of the text.
    #[must_use]
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// Returns whether no reference changed.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.formula.references().map(|placed| placed.reference).eq(&self.references)
    }
}
