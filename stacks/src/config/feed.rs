//! The `feed:` field of `cellar.yaml`.

use serde::{Deserialize, Serialize};

/// Events that are written to the feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeedScope {
    /// The feed contains only changes of the catalog: spreadsheets that are created, named, shared
    /// or deleted.
    #[default]
    Catalog,
    /// The feed contains the changes of the catalog, and the log appends of all spreadsheets. It
    /// lists appended entries without their contents.
    Everything,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn reads_and_writes_the_scope() {
        assert_eq!(Config::parse("", "f").unwrap().feed, FeedScope::Catalog);
        for (text, scope) in
            [("feed: catalog", FeedScope::Catalog), ("feed: everything", FeedScope::Everything)]
        {
            let config = Config::parse(text, "f").unwrap();
            assert_eq!(config.feed, scope);
            let again = serde_yaml::to_string(&config).unwrap();
            assert_eq!(Config::parse(&again, "f").unwrap(), config);
        }
        let error = Config::parse("feed: entries", "f").unwrap_err().to_string();
        assert!(error.contains("catalog") && error.contains("everything"), "{error}");
    }
}
