//! Tests of the choice of URL, token and spreadsheet.

use super::*;

fn id(byte: u8) -> LogId {
    LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]))
}

fn global(url: Option<&str>, token: Option<&str>, spreadsheet: Option<LogId>) -> Global {
    Global {
        spreadsheet: spreadsheet.map(SpreadsheetReference::Id),
        url: url.map(str::to_owned),
        token: token.map(str::to_owned),
        json: true,
        cost: false,
    }
}

fn profile() -> Profile {
    Profile {
        url: "http://127.0.0.1:8080".into(),
        identity: Some("local-1".into()),
        stack: None,
        token: Some("profile-token".into()),
        link: None,
        spreadsheet: Some(id(1)),
        spreadsheet_name: Some("Budget".into()),
    }
}

fn context(given: Global, profile: Option<&Profile>) -> (tempfile::TempDir, Context) {
    let folder = tempfile::tempdir().unwrap();
    if let Some(profile) = profile {
        profile.save(folder.path()).unwrap();
    }
    let context = Context::in_surroundings(given, None, &in_folder(folder.path(), None)).unwrap();
    (folder, context)
}

fn in_folder<'a>(folder: &'a Path, variable: Option<&'a str>) -> Surroundings<'a> {
    Surroundings { spreadsheet_variable: variable, working_directory: folder, logins: None }
}

fn named(id: LogId) -> NamedSpreadsheet {
    NamedSpreadsheet { id, name: Some("Plan".to_owned()) }
}

#[test]
fn without_url_or_spreadsheet_the_error_says_so() {
    let (_folder, context) = context(global(None, None, None), None);
    assert!(matches!(context.client(), Err(CliError::NoUrl)));
    assert!(matches!(context.spreadsheet_id(), Err(CliError::NoUrl)));
    let only_url = Profile::new("http://h");
    let (_folder, context) = self::context(global(None, None, None), Some(&only_url));
    assert!(matches!(context.spreadsheet_id(), Err(CliError::NoSpreadsheet)));
}

#[test]
fn options_override_the_profile() {
    let (_folder, from_profile) = context(global(None, None, None), Some(&profile()));
    assert_eq!(from_profile.token(), Some("profile-token"));
    assert_eq!(from_profile.spreadsheet_id().unwrap(), id(1));
    let given = global(Some("http://127.0.0.1:8080/"), Some("given"), Some(id(2)));
    let (_folder, given) = context(given, Some(&profile()));
    assert_eq!(given.token(), Some("given"));
    assert_eq!(given.spreadsheet_id().unwrap(), id(2));
    let (_folder, empty) = context(global(Some(""), Some(""), None), Some(&profile()));
    assert_eq!(empty.token(), Some("profile-token"));
}

#[test]
fn a_share_link_selects_its_spreadsheet() {
    let link = LinkToken { log: id(6), secret: cellar_catalog::spreadsheet::LinkSecret([1; 16]) };
    let given =
        |spreadsheet| global(Some("http://127.0.0.1:8080"), Some(&link.to_string()), spreadsheet);
    let (_folder, of_link) = context(given(None), Some(&profile()));
    assert_eq!(of_link.spreadsheet_id().unwrap(), id(6));
    let (_folder, other) = context(given(Some(id(7))), Some(&profile()));
    assert_eq!(other.spreadsheet_id().unwrap(), id(7));
}

#[test]
fn the_identity_is_used_only_for_the_url_of_the_profile() {
    let identity = |url: Option<&str>, profile: &Profile| {
        let (_folder, context) = context(global(url, None, None), Some(profile));
        context.client().unwrap().identity().to_owned()
    };
    assert_eq!(identity(None, &profile()), "local-1");
    assert_eq!(identity(Some("http://127.0.0.1:8080/"), &profile()), "local-1");
    assert_eq!(identity(Some("http://127.0.0.1:8081"), &profile()), "http://127.0.0.1:8081");
    for without in [None, Some(String::new())] {
        let profile = Profile { identity: without, ..profile() };
        assert_eq!(identity(None, &profile), "http://127.0.0.1:8080");
    }
}

#[test]
fn the_spreadsheet_variable_is_not_used_for_imports() {
    let folder = tempfile::tempdir().unwrap();
    profile().save(folder.path()).unwrap();
    let with = |flag, variable: &str| {
        let surroundings = in_folder(folder.path(), Some(variable));
        Context::in_surroundings(global(None, None, flag), None, &surroundings)
    };
    let variable = with(None, &id(8).to_string()).unwrap();
    assert_eq!(variable.spreadsheet_id().unwrap(), id(8));
    assert_eq!(variable.spreadsheet_option(), None);
    let both = with(Some(id(9)), &id(8).to_string()).unwrap();
    assert_eq!(both.spreadsheet_id().unwrap(), id(9));
    assert_eq!(both.spreadsheet_option(), Some(&SpreadsheetReference::Id(id(9))));
    assert_eq!(with(None, "").unwrap().spreadsheet_id().unwrap(), id(1));
    assert!(matches!(with(None, "a\nb"), Err(CliError::Usage { .. })));
}

#[test]
fn token_and_spreadsheet_of_the_profile_are_used_only_for_its_url() {
    let elsewhere = global(Some("https://example.com"), None, None);
    let (folder, mut context) = context(elsewhere, Some(&profile()));
    assert_eq!(context.token(), None);
    assert!(matches!(context.spreadsheet_id(), Err(CliError::NoSpreadsheet)));
    context.select(&named(id(3)), &Output::new(true)).unwrap();
    let (_, unchanged) = Profile::find(folder.path()).unwrap().unwrap();
    assert_eq!(unchanged, profile());
}

#[test]
fn select_keeps_what_a_deployment_saved_meanwhile() {
    let deployed = Profile {
        token: Some("new-token".to_owned()),
        url: "http://127.0.0.1:9090".to_owned(),
        ..profile()
    };
    let (folder, mut context) = context(global(None, None, None), Some(&profile()));
    deployed.save(folder.path()).unwrap();
    context.select(&named(id(4)), &Output::new(true)).unwrap();
    let expected = Profile { spreadsheet: Some(id(4)), ..deployed.clone() };
    let saved = Profile::read(folder.path()).unwrap().unwrap();
    assert_eq!(Profile { spreadsheet_name: expected.spreadsheet_name.clone(), ..saved }, expected);
    for identity in [None, Some(String::new()), Some("another".to_owned())] {
        let of_other_stack = Profile { identity, ..deployed.clone() };
        assert!(!of_other_stack.is_of_same_stack(&profile()));
    }
}

#[test]
fn select_keeps_the_profile_and_never_stores_a_passed_token() {
    let given = global(Some("http://127.0.0.1:8080"), Some("given"), None);
    let (folder, mut known) = context(given, Some(&profile()));
    known.select(&named(id(4)), &Output::new(true)).unwrap();
    let (_, saved) = Profile::find(folder.path()).unwrap().unwrap();
    assert_eq!(saved, {
        let name = Some("Plan".to_owned());
        Profile { spreadsheet: Some(id(4)), spreadsheet_name: name, ..profile() }
    });
    assert_eq!(known.spreadsheet_id().unwrap(), id(4));

    let fresh = global(Some("http://h"), Some("given"), None);
    let (folder, mut fresh) = context(fresh, None);
    fresh.select(&named(id(5)), &Output::new(true)).unwrap();
    let (_, saved) = Profile::find(folder.path()).unwrap().unwrap();
    let expected = Profile {
        spreadsheet: Some(id(5)),
        spreadsheet_name: Some("Plan".into()),
        ..Profile::new("http://h")
    };
    assert_eq!(saved, expected);
}

fn with_argument(
    given: Global,
    argument: &SpreadsheetReference,
    folder: &Path,
) -> Result<Context, CliError> {
    Context::in_surroundings(given, Some(argument), &in_folder(folder, None))
}

fn link(url: &str, secret: Option<[u8; 16]>) -> SpreadsheetLink {
    let secret = secret.map(cellar_catalog::spreadsheet::LinkSecret);
    SpreadsheetLink { secret, ..SpreadsheetLink::new(url, id(6)) }
}

#[test]
fn a_url_selects_its_stack_and_its_spreadsheet() {
    let folder = tempfile::tempdir().unwrap();
    profile().save(folder.path()).unwrap();
    let other_stack = SpreadsheetReference::Link(link("https://example.com", None));
    let context = with_argument(global(None, None, None), &other_stack, folder.path()).unwrap();
    assert_eq!((context.url().unwrap(), context.token()), ("https://example.com", None));
    let shared = SpreadsheetReference::Link(link("https://example.com", Some([1; 16])));
    let context = with_argument(global(None, None, None), &shared, folder.path()).unwrap();
    let token = shared.link().unwrap().token();
    assert_eq!(context.token(), token.as_deref());
    let own_stack = SpreadsheetReference::Link(link("http://127.0.0.1:8080", None));
    let context = with_argument(global(None, None, None), &own_stack, folder.path()).unwrap();
    assert_eq!(context.token(), Some("profile-token"));
}

#[test]
fn a_passed_token_is_not_sent_to_the_url_of_a_link() {
    let folder = tempfile::tempdir().unwrap();
    for secret in [None, Some([1; 16])] {
        let reference = SpreadsheetReference::Link(link("https://example.com", secret));
        let refused = with_argument(global(None, Some("mine"), None), &reference, folder.path());
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("refused to send the token"), "{error}");
        let other = global(Some("https://example.org"), Some("mine"), None);
        let error = with_argument(other, &reference, folder.path()).unwrap_err().to_string();
        assert!(error.contains("https://example.com") && error.contains("https://example.org"));
        let same = global(Some("https://example.com/"), Some("mine"), None);
        let context = with_argument(same, &reference, folder.path()).unwrap();
        assert_eq!(context.token(), Some("mine"));
    }
    let url_as_token = global(Some("https://h"), Some("https://h/#/s/x"), None);
    let surroundings = in_folder(folder.path(), None);
    assert!(Context::in_surroundings(url_as_token, None, &surroundings).is_err());
}

#[test]
fn selecting_a_share_link_keeps_its_token_for_later_commands() {
    let folder = tempfile::tempdir().unwrap();
    let shared = SpreadsheetReference::Link(link("https://example.com", Some([1; 16])));
    let mut context = with_argument(global(None, None, None), &shared, folder.path()).unwrap();
    context.select(&named(id(6)), &Output::new(true)).unwrap();
    let later =
        Context::in_surroundings(global(None, None, None), None, &in_folder(folder.path(), None));
    let mut later = later.unwrap();
    let token = shared.link().unwrap().token();
    assert_eq!(later.token(), token.as_deref());
    assert_eq!(later.spreadsheet_id().unwrap(), id(6));
    later.select(&named(id(6)), &Output::new(true)).unwrap();
    assert_eq!(later.token(), token.as_deref(), "the same spreadsheet");
    later.select(&named(id(7)), &Output::new(true)).unwrap();
    assert_eq!(later.token(), None, "another spreadsheet");
}

#[test]
fn a_saved_share_link_is_used_for_its_spreadsheet_only() {
    let secret = cellar_catalog::spreadsheet::LinkSecret([1; 16]);
    let link = LinkToken { log: id(1), secret }.to_string();
    let with_link = Profile { link: Some(link.clone()), ..profile() };
    let (folder, current) = context(global(None, None, None), Some(&with_link));
    assert_eq!(current.token(), Some(&*link));
    assert_eq!(current.followed_profile(), None, "another client could get the wrong token");
    for (spreadsheet, token) in [(id(1), "profile-token"), (id(2), "profile-token")] {
        let (_folder, named) = context(global(None, None, Some(spreadsheet)), Some(&with_link));
        assert_eq!(named.token(), Some(token), "{spreadsheet}");
    }
    let without_token = Profile { token: None, ..with_link.clone() };
    for (spreadsheet, token) in [(id(1), Some(&*link)), (id(2), None)] {
        let (_folder, named) = context(global(None, None, Some(spreadsheet)), Some(&without_token));
        assert_eq!(named.token(), token, "{spreadsheet}");
    }
    let elsewhere = global(Some("https://example.com"), None, None);
    assert_eq!(context(elsewhere, Some(&with_link)).1.token(), None, "another stack");
    let mut current = current;
    current.select(&named(id(1)), &Output::new(true)).unwrap();
    let (_, saved) = Profile::find(folder.path()).unwrap().unwrap();
    assert_eq!(saved.link, None, "the user has another token");
}

#[test]
fn a_login_is_used_for_its_url_and_without_a_profile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cellar/tokens.json");
    Logins::change(&path, |logins| logins.insert("https://one", "token-one")).unwrap();
    Logins::change(&path, |logins| logins.insert("https://two/", "token-two")).unwrap();
    let of = |url, token, in_project: &Path| {
        let surroundings = Surroundings {
            spreadsheet_variable: None,
            working_directory: in_project,
            logins: Some(&path),
        };
        let context = Context::in_surroundings(global(url, token, None), None, &surroundings);
        let context = context.unwrap();
        (context.url().ok().map(str::to_owned), context.token().map(str::to_owned))
    };
    let some = |url: &str, token: &str| (Some(url.to_owned()), Some(token.to_owned()));
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(of(None, None, empty.path()), some("https://two", "token-two"), "the last login");
    assert_eq!(of(Some("https://one/"), None, empty.path()), some("https://one/", "token-one"));
    assert_eq!(of(None, Some("mine"), empty.path()), (None, Some("mine".to_owned())));
    let unknown = of(Some("https://three"), None, empty.path());
    assert_eq!(unknown, (Some("https://three".to_owned()), None));

    let project = tempfile::tempdir().unwrap();
    Profile { token: None, ..Profile::new("https://one") }.save(project.path()).unwrap();
    assert_eq!(of(None, None, project.path()), some("https://one", "token-one"));
    let own = Profile { token: Some("own".into()), ..Profile::new("https://one") };
    own.save(project.path()).unwrap();
    assert_eq!(of(None, None, project.path()), some("https://one", "own"));
    assert_eq!(of(Some("https://two"), None, project.path()), some("https://two", "token-two"));
}

#[test]
fn a_destination_has_the_name_and_stack_of_the_profile() {
    let with_stack = Profile { stack: Some("books".into()), ..profile() };
    let (folder, mut context) = context(global(None, None, None), Some(&with_stack));
    let selected = context.selected_destination().unwrap();
    assert_eq!(selected.stack.as_deref(), Some("books"));
    assert_eq!(selected.spreadsheet.name.as_deref(), Some("Budget"));
    let other = NamedSpreadsheet { id: id(2), name: None };
    assert_eq!(context.destination(other).unwrap().spreadsheet.name, None);
    let renamed = |id| DetailsReply { name: "Plan".into(), ..DetailsReply::of(id, None, None) };
    context.remember_name(&renamed(id(2)));
    assert_eq!(context.selected_destination().unwrap(), selected, "another spreadsheet");
    context.remember_name(&renamed(id(1)));
    let (_, saved) = Profile::find(folder.path()).unwrap().unwrap();
    assert_eq!(saved, Profile { spreadsheet_name: Some("Plan".into()), ..with_stack });
}
