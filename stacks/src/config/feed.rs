//! What is in the feed of everything that was appended.

use serde::{Deserialize, Serialize};

/// What is in the feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeedScope {
    /// Every change of the catalog: who created, named, shared and deleted what.
    #[default]
    Catalog,
    /// The entries of every spreadsheet's log, too: where something was edited, and when.
    Everything,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn the_feed_has_the_catalog_or_everything() {
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
