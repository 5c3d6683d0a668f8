//! Parsed formulas.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::expression::{Expression, build_expression};
use crate::reference::{Reference, ReferenceSheet, SheetNames, write_reference};
use crate::syntax::{SyntaxError, SyntaxProblem, Token, TokenKind, check_grammar, tokenize};

/// A parsed formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    tokens: Vec<Token>,
    expression: Expression,
}

/// A reference and its position in the text of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedReference<'a> {
    /// The reference.
    pub reference: &'a Reference,
    /// Byte range of the reference in the text.
    pub span: Range<usize>,
}

impl Formula {
    /// Parses a formula, including its leading `=`, in time linear in the length of `text`. Sheet
    /// names in references are resolved to sheet numbers. A name that no sheet has is kept.
    ///
    /// Unsupported references, such as references to tables, are kept as text. Use
    /// [`Formula::check_supported`] to reject them.
    ///
    /// # Errors
    /// Returns the first syntax error.
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

    /// Checks that the formula has no unsupported references. In the parameters of a `LAMBDA`,
    /// square brackets mark an optional parameter, as in `LAMBDA(x,[y],x+y)`. Elsewhere, they mark
    /// a reference to a table.
    ///
    /// # Errors
    /// Returns an error for the first unsupported reference. The message suggests an alternative.
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

    /// Returns the text from which the formula was parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the tokens in text order. They cover the whole text without gaps.
    #[must_use]
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Returns the expression tree of the formula.
    #[must_use]
    pub fn expression(&self) -> &Expression {
        &self.expression
    }

    /// Returns the references in text order.
    pub fn references(&self) -> impl Iterator<Item = PlacedReference<'_>> {
        self.tokens.iter().filter_map(|token| match &token.kind {
            TokenKind::Reference(reference) => {
                Some(PlacedReference { reference, span: token.span.clone() })
            }
            _ => None,
        })
    }

    /// Returns the names of the called functions in text order, in upper case. A prefix is kept,
    /// such as `_xlfn.`, which marks functions that Excel has added since 2010.
    pub fn functions(&self) -> impl Iterator<Item = String> + '_ {
        self.tokens
            .iter()
            .filter(|token| token.kind == TokenKind::Function)
            .map(|token| self.text_of(token).to_ascii_uppercase())
    }

    /// Returns the names that are not followed by `(`, in text order: defined names, variables of `LET`
    /// and parameters of `LAMBDA`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tokens
            .iter()
            .filter(|token| token.kind == TokenKind::Name)
            .map(|token| self.text_of(token))
    }

    /// Returns the canonical text of the formula. Function names, booleans, error values and
    /// references are in upper case, ranges start at their top left cell, and sheets have their
    /// current names. Spaces after function names are removed. Numbers, strings, names and other
    /// spaces are unchanged.
    #[must_use]
    pub fn canonical_text(&self, names: &impl SheetNames) -> String {
        self.text_with(|reference, text| write_reference(reference, names, text))
    }

    /// Returns the formula with `change` applied to each reference.
    #[must_use]
    pub fn map_references(&self, change: impl Fn(&Reference) -> Reference) -> ChangedFormula<'_> {
        let references = self.references().map(|placed| change(placed.reference)).collect();
        ChangedFormula { formula: self, references }
    }

    /// Returns the canonical text of the formula. Each reference is written by `write_reference`.
    pub(crate) fn text_with(
        &self,
        mut write_reference: impl FnMut(&Reference, &mut String),
    ) -> String {
        let names = self.upper_case_names();
        let mut text = String::with_capacity(self.text.len());
        let mut previous_kind = &TokenKind::Start;
        for token in &self.tokens {
            let token_text = self.text_of(token);
            match &token.kind {
                TokenKind::Reference(reference) => write_reference(reference, &mut text),
                TokenKind::Boolean | TokenKind::Error => {
                    text.push_str(&token_text.to_ascii_uppercase());
                }
                TokenKind::Function if !names.contains(&token_text.to_ascii_uppercase()) => {
                    text.push_str(&token_text.to_ascii_uppercase());
                }
                TokenKind::Space if *previous_kind == TokenKind::Function => {}
                _ => text.push_str(token_text),
            }
            previous_kind = &token.kind;
        }
        text
    }

    /// Returns all names in the formula, in upper case. They include the variables of `LET` and the
    /// parameters of `LAMBDA`, which can be called like functions. Calls to these names keep their
    /// case, so that a name has the same case in the whole formula.
    fn upper_case_names(&self) -> BTreeSet<String> {
        let names = self.tokens.iter().filter(|token| token.kind == TokenKind::Name);
        names.map(|token| self.text_of(token).to_ascii_uppercase()).collect()
    }

    fn text_of(&self, token: &Token) -> &str {
        self.text.get(token.span.clone()).unwrap_or_default()
    }
}

/// A formula with replaced references.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedFormula<'a> {
    formula: &'a Formula,
    references: Vec<Reference>,
}

impl ChangedFormula<'_> {
    /// Returns the canonical text with the new references.
    #[must_use]
    pub fn text(&self, names: &impl SheetNames) -> String {
        let mut references = self.references.iter();
        self.formula.text_with(|_, text| {
            if let Some(reference) = references.next() {
                write_reference(reference, names, text);
            }
        })
    }

    /// Returns the new references in text order.
    #[must_use]
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// Returns whether all references are unchanged.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.formula.references().map(|placed| placed.reference).eq(&self.references)
    }
}
