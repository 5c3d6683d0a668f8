//! In-memory spreadsheet lists. They are stored in the Feed table, as in DynamoDB.

use std::ops::Bound;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_catalog::records::list::{decode, encode, list_partition};
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Person};

use super::MemoryFeed;
use crate::ports::{ListPage, Lists, PortError};

#[async_trait]
impl Lists for MemoryFeed {
    async fn put_listed(&self, person: &Person, entry: &ListEntry) -> Result<(), PortError> {
        let mut items = self.lock();
        let key = (list_partition(person), entry.log.to_string());
        let stored_entry = items.get(&key).map(decode).transpose()?;
        if stored_entry.is_none_or(|stored_entry| stored_entry.version <= entry.version) {
            items.insert(key, encode(person, entry));
        }
        Ok(())
    }

    async fn listed(
        &self,
        person: &Person,
        after: Option<LogId>,
        limit: u32,
    ) -> Result<ListPage, PortError> {
        let partition = list_partition(person);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let start = match after {
            Some(log_id) => Bound::Excluded((partition.clone(), log_id.to_string())),
            None => Bound::Included((partition.clone(), String::new())),
        };
        let items = self.lock();
        let mut entries = Vec::new();
        for ((record_partition, _), record) in items.range((start, Bound::Unbounded)) {
            if *record_partition != partition || entries.len() == limit {
                break;
            }
            entries.push(decode(record)?);
        }
        Ok(ListPage { more: entries.len() == limit, entries })
    }
}
