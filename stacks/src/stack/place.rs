//! Where in the source a resource was made: what a deployment names when the resource fails.

use std::fmt;
use std::panic::Location;

/// The folder of this crate's source in the workspace.
const SOURCE: &str = "stacks/src/";

/// A line of the source, such as `stacks/src/cellar/storage.rs:41`: relative to the workspace, wherever
/// that was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    location: &'static Location<'static>,
}

impl Place {
    /// The line that called the function that asks for it.
    #[track_caller]
    pub(crate) fn caller() -> Self {
        Self { location: Location::caller() }
    }

    /// The file, relative to the workspace, with `/` between its parts.
    pub fn file(&self) -> String {
        relative(self.location.file())
    }

    /// The line, from 1.
    pub fn line(&self) -> u32 {
        self.location.line()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file(), self.line())
    }
}

/// A crate that is a dependency of another workspace has absolute paths.
fn relative(file: &str) -> String {
    let file = file.replace('\\', "/");
    match file.rfind(SOURCE) {
        Some(at) => file.split_at(at).1.to_owned(),
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_line_that_asked_relative_to_the_workspace() {
        let (place, line) = (Place::caller(), line!());
        assert_eq!(place.to_string(), format!("stacks/src/stack/place.rs:{line}"));
        for (file, expected) in [
            ("stacks/src/cellar/api.rs", "stacks/src/cellar/api.rs"),
            ("/home/somebody/cellar/stacks/src/cellar/api.rs", "stacks/src/cellar/api.rs"),
            (r"C:\cellar\stacks\src\cellar\api.rs", "stacks/src/cellar/api.rs"),
            ("/elsewhere/main.rs", "/elsewhere/main.rs"),
        ] {
            assert_eq!(relative(file), expected);
        }
    }
}
