//! Finds the stack of an open grid again after it was restarted at another URL. `synth deploy` writes
//! the new URL and a new token to the profile.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;

use crate::Client;
use crate::profile::Profile;

/// Reading a small file this often costs nothing that a user could notice.
const CHECK_PERIOD: Duration = Duration::from_secs(1);

pub(super) struct StackFinder {
    directory: PathBuf,
    /// The profile as it was read last.
    profile: Profile,
}

impl StackFinder {
    pub(super) fn new(directory: PathBuf, profile: Profile) -> Self {
        Self { directory, profile }
    }

    /// Returns a client of the same stack and person if the profile has changed since the last call.
    pub(super) fn find(&mut self, current: &Client) -> Option<Client> {
        let newest = Profile::read(&self.directory).ok().flatten()?;
        let is_same_stack = newest.identity.is_some() && newest.identity == self.profile.identity;
        if !is_same_stack || newest == self.profile {
            return None;
        }
        let client = current.moved_to(&newest.url, newest.token.as_deref()).ok().flatten();
        self.profile = newest;
        client
    }

    pub(super) async fn wait_until_moved(&mut self, current: &Client) -> Client {
        loop {
            sleep(CHECK_PERIOD).await;
            if let Some(client) = self.find(current) {
                return client;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(url: &str, identity: &str) -> Profile {
        let mut profile = Profile::new(url);
        profile.identity = Some(identity.to_owned());
        profile.token = Some("mine".to_owned());
        profile
    }

    #[test]
    fn a_moved_stack_is_found_once_and_another_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let old = profile("http://127.0.0.1:1", "local-1");
        old.save(folder.path()).unwrap();
        let mut finder = StackFinder::new(folder.path().to_owned(), old.clone());
        let client = Client::new(&old.url, old.token.as_deref())
            .unwrap()
            .with_identity(old.identity.as_deref());
        assert!(finder.find(&client).is_none(), "nothing has changed");
        profile("http://127.0.0.1:2", "local-1").save(folder.path()).unwrap();
        let moved = finder.find(&client).unwrap();
        assert_eq!((moved.url(), moved.identity()), ("http://127.0.0.1:2", "local-1"));
        assert!(finder.find(&moved).is_none());
        profile("http://127.0.0.1:3", "local-2").save(folder.path()).unwrap();
        assert!(finder.find(&moved).is_none(), "another stack was deployed here");
        let mut of_bob = profile("http://127.0.0.1:4", "local-1");
        of_bob.token = Some("of bob".replace(' ', "-"));
        of_bob.save(folder.path()).unwrap();
        assert!(finder.find(&moved).is_none(), "the edits of one person are not sent as another");
        std::fs::remove_file(Profile::path(folder.path())).unwrap();
        assert!(finder.find(&moved).is_none());
    }
}
