use cellar_catalog::access::Role;
use cellar_catalog::spreadsheet::{BadPerson, Person};
use clap::Args;

const ANY_ISSUER: &str = "issuer";

#[derive(Debug, Args)]
#[command(after_help = "\
A viewer can read, an editor can also edit and rename, an owner can also share, archive and delete. A person \
is identified by the subject of their tokens (`synth token create --subject NAME`).

Examples:
  cellar share bob                   # bob can read it
  cellar share bob --role editor     # bob can edit it
  cellar share ann --role owner --issuer https://login.example.com")]
pub(in crate::cli) struct Share {
    /// Person: the name in their token (its claim `sub`)
    #[arg(value_parser = parse_person)]
    pub(in crate::cli) person: String,
    /// Role
    #[arg(long, default_value = "viewer", value_name = "viewer|editor|owner")]
    pub(in crate::cli) role: Role,
    /// Issuer of their tokens [default: the issuer of your token]
    #[arg(long, value_name = "ISSUER")]
    pub(in crate::cli) issuer: Option<String>,
}

/// Spaces around a name come from copying it, and would name another person.
pub(super) fn parse_person(text: &str) -> Result<String, BadPerson> {
    let subject = text.trim();
    // The issuer of the caller is unknown here, and the server checks the issuer.
    Person::new(ANY_ISSUER, subject).map(|person| person.subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people_are_trimmed() {
        assert_eq!(parse_person(" bob smith\t"), Ok("bob smith".to_owned()));
        assert_eq!(parse_person(" \n"), Err(BadPerson::Subject));
        assert_eq!(parse_person("bo\nb"), Err(BadPerson::ControlCharacter));
    }
}
