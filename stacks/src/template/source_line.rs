//! The source lines of resources. The error message of a failed deployment shows them.

use std::fmt;
use std::panic::Location;

/// The path of this crate's source files, relative to the workspace.
const SOURCE_FOLDER: &str = "stacks/src/";

/// A source line, such as `stacks/src/cellar/storage.rs:41`. The path is relative to the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLine {
    location: &'static Location<'static>,
}

impl SourceLine {
    /// Returns the source line that called the calling function. The calling function must be
    /// `#[track_caller]`.
    #[track_caller]
    pub(crate) fn caller() -> Self {
        Self { location: Location::caller() }
    }

    /// Returns the file path relative to the workspace, with `/` as separator.
    pub fn file(&self) -> String {
        workspace_path(self.location.file())
    }

    /// Returns the line number, counted from 1.
    pub fn line(&self) -> u32 {
        self.location.line()
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file(), self.line())
    }
}

/// The compiler uses absolute paths if this crate is a dependency of another workspace.
fn workspace_path(file: &str) -> String {
    let file = file.replace('\\', "/");
    match file.rfind(SOURCE_FOLDER) {
        Some(start) => file.split_at(start).1.to_owned(),
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_line_is_the_calling_line_relative_to_the_workspace() {
        let (source_line, line) = (SourceLine::caller(), line!());
        assert_eq!(source_line.to_string(), format!("stacks/src/template/source_line.rs:{line}"));
        for (file, expected) in [
            ("stacks/src/cellar/api.rs", "stacks/src/cellar/api.rs"),
            ("/home/user/cellar/stacks/src/cellar/api.rs", "stacks/src/cellar/api.rs"),
            (r"C:\cellar\stacks\src\cellar\api.rs", "stacks/src/cellar/api.rs"),
            ("/elsewhere/main.rs", "/elsewhere/main.rs"),
        ] {
            assert_eq!(workspace_path(file), expected);
        }
    }
}
