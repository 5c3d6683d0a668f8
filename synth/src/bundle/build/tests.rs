//! Cargo's part is played by a script.
#![cfg(unix)]

use std::fs;

use cellar_stacks::Architecture::{self, Arm64, X86_64};
use tempfile::TempDir;

use super::super::elf::fixture::Fixture;
use super::super::host::tests::{GRAVITON, MAC};
use super::*;

/// Written at no time: a program that another thread's child still holds open cannot be run.
const CARGO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bundle/build/test-cargo");

/// Sources, and what cargo does with them.
struct Checkout {
    folder: TempDir,
    output: Output,
}

impl Checkout {
    /// `build` and `zigbuild` are scripts; zigbuild is not installed if it has none.
    fn new(build: &str, zigbuild: &str) -> Self {
        let checkout = Self { folder: tempfile::tempdir().unwrap(), output: Output::new(true) };
        fs::create_dir(checkout.path("runtime")).unwrap();
        let version = if zigbuild.is_empty() { "exit 101" } else { "exit 0" };
        for (name, content) in [
            ("runtime/Cargo.toml", ""),
            ("build", build),
            ("zigbuild", zigbuild),
            ("version", version),
        ] {
            fs::write(checkout.path(name), content).unwrap();
        }
        checkout
    }

    fn with_binary(self, name: &str, fixture: &Fixture) -> Self {
        fs::write(self.path(name), fixture.bytes()).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn build(&self, host: Host, architecture: Architecture) -> Result<Fit, BundleError> {
        self.build_by(CARGO, host, architecture)
    }

    fn build_by(
        &self,
        cargo: &str,
        host: Host,
        architecture: Architecture,
    ) -> Result<Fit, BundleError> {
        let (sources, output) = (self.folder.path().to_owned(), &self.output);
        Builder { cargo: cargo.into(), sources, host, output }.build(architecture)
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }
}

/// What cargo says of a binary in its working folder.
fn built(name: &str) -> String {
    let message = r#"{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"bootstrap"},"#;
    format!(r#"echo '{{"reason":"x"}}'; echo '{message}"executable":"'"$PWD/{name}"'"}}'"#)
}

fn newer(architecture: Architecture) -> Fixture {
    Fixture::sound(architecture).with("libc.so.6", ("GLIBC_2.38", 0, "strtol"))
}

#[test]
fn the_binary_is_where_cargo_says() {
    let checkout = Checkout::new(&built("some-where"), "");
    let checkout = checkout.with_binary("some-where", &Fixture::sound(Arm64));
    let fit = checkout.build(GRAVITON, Arm64).unwrap();
    assert!(fit.name().ends_with("-arm64.zip"), "{}", fit.name());
    assert_eq!(
        checkout.calls(),
        ["build --locked --profile lambda -p cellar-runtime --bin bootstrap \
          --message-format=json-render-diagnostics"]
    );
}

#[test]
fn a_failed_build_is_told_with_its_last_words() {
    let mut script =
        "i=0; while [ $i -lt 40 ]; do echo \"line $i\" >&2; i=$((i+1)); done".to_owned();
    script.push_str("; exit 101");
    let error = Checkout::new(&script, "").build(GRAVITON, Arm64).unwrap_err();
    let BundleError::Build { said, status, .. } = error else { panic!("{error:?}") };
    assert_eq!(status.code(), Some(101));
    assert!(said.starts_with("line 10\n") && said.ends_with("\nline 39"), "{said}");
}

#[test]
fn much_output_on_both_pipes_stops_nothing() {
    let noise = "i=0; while [ $i -lt 3000 ]; do echo \"0123456789012345678901234567890 $i\"; echo \
                 \"0123456789012345678901234567890 $i\" >&2; i=$((i+1)); done; ";
    let checkout = Checkout::new(&format!("{noise}{}", built("b")), "");
    let checkout = checkout.with_binary("b", &Fixture::sound(Arm64));
    assert!(checkout.build(GRAVITON, Arm64).is_ok());
}

#[test]
fn a_build_of_nothing_and_a_missing_cargo_are_named() {
    let error = Checkout::new("true", "").build(GRAVITON, Arm64).unwrap_err();
    assert!(matches!(error, BundleError::Nothing { .. }), "{error:?}");
    let checkout = Checkout::new("true", "");
    let error = checkout.build_by("/no/such/cargo", GRAVITON, Arm64).unwrap_err();
    assert!(matches!(error, BundleError::Cargo { .. }), "{error:?}");
    fs::remove_file(checkout.path("runtime/Cargo.toml")).unwrap();
    let error = checkout.build(GRAVITON, Arm64).unwrap_err();
    assert!(matches!(error, BundleError::Sources { .. }), "{error:?}");
}

#[test]
fn for_another_processor_there_are_two_commands_to_type() {
    for (host, architecture) in [(MAC, Arm64), (GRAVITON, X86_64)] {
        let checkout = Checkout::new("true", "");
        let error = checkout.build(host, architecture).unwrap_err();
        let BundleError::Cross { help, .. } = error else { panic!("{error:?}") };
        let target = target(architecture);
        assert!(help.contains("\n  pip install cargo-zigbuild\n"), "{help}");
        assert!(help.contains(&format!("\n  rustup target add {target}\n")), "{help}");
        assert_eq!(checkout.calls(), ["zigbuild --version"]);
    }
}

#[test]
fn zigbuild_builds_for_another_processor() {
    let checkout = Checkout::new("exit 1", &built("b"));
    let checkout = checkout.with_binary("b", &Fixture::sound(X86_64));
    assert!(checkout.build(GRAVITON, X86_64).unwrap().name().ends_with("-x86_64.zip"));
    let last = checkout.calls().pop().unwrap();
    assert!(last.starts_with("zigbuild --locked"), "{last}");
    assert!(last.ends_with("--target x86_64-unknown-linux-gnu.2.34"), "{last}");
}

#[test]
fn a_glibc_that_is_too_new_is_linked_anew_where_zigbuild_is() {
    let checkout = Checkout::new(&built("new"), "").with_binary("new", &newer(Arm64));
    let error = checkout.build(GRAVITON, Arm64).unwrap_err();
    assert!(error.to_string().contains("GLIBC_2.38"), "{error}");
    let checkout = Checkout::new(&built("new"), &built("old")).with_binary("new", &newer(Arm64));
    let checkout = checkout.with_binary("old", &Fixture::sound(Arm64));
    assert!(checkout.build(GRAVITON, Arm64).is_ok());
    assert_eq!(checkout.calls().len(), 3);
}

#[test]
fn a_binary_for_another_processor_is_not_taken() {
    let checkout = Checkout::new(&built("b"), &built("b"));
    let checkout = checkout.with_binary("b", &Fixture::sound(X86_64));
    let error = checkout.build(GRAVITON, Arm64).unwrap_err();
    assert!(matches!(error, BundleError::Unfit { .. }), "{error:?}");
    // It would be the same one again.
    assert_eq!(checkout.calls().len(), 1);
}
