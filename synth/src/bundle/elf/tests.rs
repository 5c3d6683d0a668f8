//! Tests of each compatibility rule and of parsing arbitrary bytes.

use std::cell::RefCell;
use std::fs;

use cellar_stacks::Architecture::{Arm64, X86_64};
use object::read::elf::{FileHeader as _, SectionHeader as _};
use object::{LittleEndian, elf};
use proptest::prelude::*;

use super::fixture::{Fixture, Need};
use super::read::read_headers;
use super::*;
use crate::bundle::limits::{MAX_DYNAMIC_ENTRIES, MAX_NAME_BYTES, MAX_VERSION_NEEDS};

fn check_x86(fixture: &Fixture) -> Result<SystemNeeds, ElfFault> {
    check(&fixture.bytes(), X86_64)
}

fn sound() -> Fixture {
    Fixture::sound(X86_64)
}

#[test]
fn accepts_a_binary_of_a_plain_build() {
    for architecture in [X86_64, Arm64] {
        let needs = check(&Fixture::sound(architecture).bytes(), architecture).unwrap();
        assert_eq!(needs.glibc.unwrap().to_string(), "2.34");
    }
}

#[test]
fn a_static_binary_needs_no_glibc() {
    let fixture = Fixture { loader: None, libraries: vec![], ..sound() };
    assert_eq!(check_x86(&fixture).unwrap(), SystemNeeds { glibc: None });
    let fixed = Fixture { kind: 2, ..fixture };
    assert_eq!(check_x86(&fixed).unwrap(), SystemNeeds { glibc: None });
}

#[test]
fn rejects_another_processor() {
    let fault = check(&Fixture::sound(Arm64).bytes(), X86_64).unwrap_err();
    assert_eq!(fault.to_string(), "it is for arm64, but the functions are for x86_64");
    assert!(fault.remedy(X86_64).contains("x86_64-unknown-linux-gnu"));
    let fault = check_x86(&Fixture { machine: 243, ..sound() }).unwrap_err();
    assert!(fault.to_string().contains("a processor with the ELF number 243"), "{fault}");
}

#[test]
fn rejects_a_newer_glibc_with_its_symbol_and_the_remedy() {
    let fixture = sound().with("libc.so.6", ("GLIBC_2.38", 0, "__isoc23_strtol"));
    let fault = check_x86(&fixture.with("libm.so.6", ("GLIBC_2.35", 0, "hypot"))).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "it needs GLIBC_2.38 of libc.so.6 (for `__isoc23_strtol`), but Amazon Linux 2023 only has GLIBC_2.34"
    );
    let help = fault.remedy(X86_64);
    assert!(help.contains("pip install cargo-zigbuild"), "{help}");
    assert!(help.contains("--target x86_64-unknown-linux-gnu.2.34"), "{help}");
}

#[test]
fn accepts_versions_up_to_those_of_amazon_linux() {
    let is_rejected = |library, version| {
        let result = check_x86(&sound().with(library, (version, 0, "symbol")));
        matches!(result, Err(ElfFault::TooNew { version: found, .. }) if found == version)
    };
    assert!(!is_rejected("libc.so.6", "GLIBC_2.34") && is_rejected("libc.so.6", "GLIBC_2.35"));
    assert!(is_rejected("libc.so.6", "GLIBC_2.34.1"));
    assert!(
        !is_rejected("libgcc_s.so.1", "GCC_11.0") && is_rejected("libgcc_s.so.1", "GCC_12.0.0")
    );
    // Neither version has a number. `GLIBC_PRIVATE` is internal to GLIBC, and `GLIBC_ABI_DT_RELR`
    // was introduced in GLIBC 2.36.
    assert!(
        is_rejected("libc.so.6", "GLIBC_PRIVATE") && is_rejected("libc.so.6", "GLIBC_ABI_DT_RELR")
    );
    assert!(is_rejected("libc.so.6", "OTHER_1.0"));
}

#[test]
fn weak_versions_are_ignored() {
    let weak: Need = ("GLIBC_2.39", elf::VER_FLG_WEAK, "pidfd_spawnp");
    assert_eq!(check_x86(&sound().with("libc.so.6", weak)), check_x86(&sound()));
}

#[test]
fn rejects_other_libraries_and_loaders() {
    let fault = check_x86(&sound().with("libssl.so.3", ("OPENSSL_3.0.0", 0, "SSL_new")));
    assert_eq!(fault, Err(ElfFault::Library { name: "libssl.so.3".to_owned() }));
    let loader = ("GLIBC_2.3", 0, "__tls_get_addr");
    assert!(check_x86(&sound().with("ld-linux-x86-64.so.2", loader)).is_ok());
    assert!(check_x86(&sound().with("ld-linux-aarch64.so.1", loader)).is_err());
    let nix = "/nix/store/x-glibc/lib/ld-linux-x86-64.so.2";
    let fault = check_x86(&Fixture { loader: Some(nix), ..sound() }).unwrap_err();
    assert_eq!(fault, ElfFault::Loader { actual: nix.to_owned() });
    assert!(fault.remedy(X86_64).contains("`/lib64/ld-linux-x86-64.so.2`"));
}

#[test]
fn rejects_other_file_formats() {
    let found = |bytes: &[u8]| match check(bytes, X86_64) {
        Err(ElfFault::NotElf { actual }) => actual,
        other => panic!("{other:?}"),
    };
    assert_eq!(found(b""), "an empty file");
    assert_eq!(found(b"\xcf\xfa\xed\xfe\x0c"), "a program for macOS");
    assert_eq!(found(b"MZ\x90\0"), "a program for Windows");
    assert_eq!(found(b"#!/bin/sh\n"), "a script");
    assert_eq!(found(b"\x7fEL"), "a file of unknown format");
    assert_eq!(check_x86(&Fixture { kind: 1, ..sound() }), Err(ElfFault::NotProgram));
    let mut bytes = sound().bytes();
    bytes[4] = 1;
    assert_eq!(check(&bytes, X86_64), Err(ElfFault::Class));
    bytes[4..6].copy_from_slice(&[2, 2]);
    assert_eq!(check(&bytes, X86_64), Err(ElfFault::Class));
    let mut library = sound().bytes();
    library[24..32].fill(0);
    assert_eq!(check(&library, X86_64), Err(ElfFault::NotProgram));
}

#[test]
fn rejects_missing_sections() {
    let is_malformed = |bytes: &[u8]| matches!(check(bytes, X86_64), Err(ElfFault::Malformed(_)));
    let mut stripped = sound().bytes();
    stripped[40..48].fill(0);
    assert!(is_malformed(&stripped), "no section headers");
    let mut bytes = sound().bytes();
    let needs = bytes.windows(4).rposition(|four| four == 0x6fff_fffe_u32.to_le_bytes()).unwrap();
    bytes[needs] = 0;
    assert!(is_malformed(&bytes), "no list of versions");
    for length in 0..bytes.len() {
        assert!(check(&sound().bytes()[..length], X86_64).is_err(), "{length}");
    }
}

#[test]
fn counts_are_bounded() {
    let too_many =
        |fixture: &Fixture| matches!(read_headers(&fixture.bytes()), Err(ElfFault::TooMany { .. }));
    let needs = |count| {
        let versions = vec![("GLIBC_2.34", 0, "symbol"); count];
        Fixture { libraries: vec![("libc.so.6", versions)], ..sound() }
    };
    // The library itself also counts towards the limit.
    assert!(!too_many(&needs(MAX_VERSION_NEEDS - 1)) && too_many(&needs(MAX_VERSION_NEEDS)));
    // In addition to the libraries, the dynamic section has one entry for the version table.
    let none = |count| Fixture { libraries: vec![("libc.so.6", vec![]); count], ..sound() };
    assert!(!too_many(&none(MAX_DYNAMIC_ENTRIES - 1)) && too_many(&none(MAX_DYNAMIC_ENTRIES)));
    let named = |length| {
        let name: &'static str = "n".repeat(length).leak();
        Fixture { libraries: vec![(name, vec![])], ..sound() }
    };
    assert!(!too_many(&named(MAX_NAME_BYTES)) && too_many(&named(MAX_NAME_BYTES + 1)));
}

#[test]
fn an_endless_list_of_versions_is_rejected() {
    // Make the version list endless: each version names itself as the next version.
    let mut bytes = sound().bytes();
    let needs = {
        let header = elf::FileHeader64::<LittleEndian>::parse(&*bytes).unwrap();
        let sections = header.section_headers(LittleEndian, &*bytes).unwrap();
        let section =
            sections.iter().find(|section| section.sh_type(LittleEndian) == elf::SHT_GNU_VERNEED);
        usize::try_from(section.unwrap().sh_offset(LittleEndian)).unwrap()
    };
    bytes[needs + 2..needs + 4].fill(0xff);
    bytes[needs + 16 + 12..needs + 32].fill(0);
    assert!(matches!(check(&bytes, X86_64), Err(ElfFault::TooMany { .. })));
}

thread_local! {
    /// This test executable and the offsets of its headers. Each test case corrupts some bytes and
    /// then restores them.
    static REAL: RefCell<(Vec<u8>, Vec<usize>)> = RefCell::new(real());
}

/// Returns this test executable and the offsets of its headers, which are the first 16 KB, the
/// dynamic section, and the section headers.
fn real() -> (Vec<u8>, Vec<usize>) {
    let bytes = fs::read(std::env::current_exe().unwrap()).unwrap();
    let mut places: Vec<usize> = (0..16 * 1024).collect();
    if let Ok(header) = elf::FileHeader64::<LittleEndian>::parse(&*bytes) {
        let sections = header.section_headers(LittleEndian, &*bytes).unwrap();
        for section in sections {
            if section.sh_type(LittleEndian) == elf::SHT_DYNAMIC {
                let start = usize::try_from(section.sh_offset(LittleEndian)).unwrap();
                places.extend(start..start + 1_024);
            }
        }
        let start = usize::try_from(header.e_shoff(LittleEndian)).unwrap();
        places.extend(start..start + sections.len() * 64);
    }
    (bytes, places)
}

#[cfg(target_os = "linux")]
#[test]
fn reads_the_test_binary() {
    REAL.with_borrow(|(bytes, _)| {
        let headers = read_headers(bytes).unwrap();
        assert!(headers.is_program, "{headers:?}");
        if cfg!(target_env = "gnu") {
            assert!(headers.libraries.iter().any(|name| name == "libc.so.6"), "{headers:?}");
            let main = headers.versions.iter().any(|need| need.symbol.is_some());
            assert!(main, "{headers:?}");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_corrupted_real_binary_does_not_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        REAL.with_borrow_mut(|(bytes, places)| {
            let mut old = Vec::new();
            for (place, byte) in &changes {
                let place = *place.get(places);
                old.push((place, bytes[place]));
                bytes[place] = *byte;
            }
            let end = end.map_or(bytes.len(), |end| end.index(bytes.len()));
            let _ = check(&bytes[..end], X86_64);
            old.into_iter().rev().for_each(|(place, byte)| bytes[place] = byte);
        });
    }

    #[test]
    fn a_corrupted_small_binary_does_not_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = sound().bytes();
        for (place, byte) in &changes {
            let place = place.index(bytes.len());
            bytes[place] = *byte;
        }
        let _ = check(&bytes, X86_64);
    }

    #[test]
    fn arbitrary_bytes_after_the_magic_number_do_not_panic(
        rest in prop::collection::vec(any::<u8>(), 0..512),
    ) {
        let bytes = [b"\x7fELF\x02\x01".as_slice(), &rest].concat();
        let _ = check(&bytes, X86_64);
    }
}
