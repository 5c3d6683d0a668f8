//! In-memory spreadsheet lists, stored in the Feed table as in DynamoDB.

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
        let there = items.get(&key).map(decode).transpose()?;
        if there.is_none_or(|there| there.version <= entry.version) {
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
        let after = after.map(|log| log.to_string()).unwrap_or_default();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let items = self.lock();
        let range = items.range((partition.clone(), after.clone())..);
        let behind = range.filter(|((_, sort), _)| *sort > after);
        let records = behind.take_while(|((of, _), _)| *of == partition).take(limit);
        let entries: Vec<_> =
            records.map(|(_, record)| decode(record)).collect::<Result<_, _>>()?;
        Ok(ListPage { more: entries.len() == limit, entries })
    }
}
