//! Attaches advice for command-line users to the library's errors.
//!
//! A library error states only the problem. The next step for the user depends on the program, so
//! this module provides that advice for the programs `cellar` and `synth`.

mod client;
mod edits;
mod files;
mod import;
mod reads;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use miette::Diagnostic;

/// A library error with advice for command-line users.
pub trait CommandAdvice: Error {
    /// Returns the error's code, such as `cellar::timeout`. Codes never change between versions.
    fn code(&self) -> &'static str;

    /// Returns the next action for the user, such as a command to run.
    fn help(&self) -> Option<Cow<'static, str>>;
}

/// Wraps an error so that `miette` prints its code and help text from [`CommandAdvice`].
#[derive(Debug)]
pub struct Advised<E>(pub E);

impl<E> From<E> for Advised<E> {
    fn from(error: E) -> Self {
        Self(error)
    }
}

impl<E: fmt::Display> fmt::Display for Advised<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl<E: Error> Error for Advised<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl<E: CommandAdvice> Diagnostic for Advised<E> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.0.code()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.0.help()?;
        Some(Box::new(help))
    }
}

fn static_help(help: &'static str) -> Option<Cow<'static, str>> {
    Some(Cow::Borrowed(help))
}
