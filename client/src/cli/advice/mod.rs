//! Advice for users of the command line, for the errors of the library.
//!
//! The library's errors state what is wrong. What to type next depends on the program, so the
//! commands `cellar` and `synth` add it here.

mod client;
mod edits;
mod files;
mod import;
mod reads;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use miette::Diagnostic;

/// An error for which the command line has advice.
pub trait CommandAdvice: Error {
    /// Returns the error's code, such as `cellar::timeout`, which does not change between versions.
    fn code(&self) -> &'static str;

    /// Returns what the user can do next, such as which command to run.
    fn help(&self) -> Option<Cow<'static, str>>;
}

/// An error that `miette` prints with its [`CommandAdvice`].
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

/// Borrows a fixed help text.
fn fixed(help: &'static str) -> Option<Cow<'static, str>> {
    Some(Cow::Borrowed(help))
}
