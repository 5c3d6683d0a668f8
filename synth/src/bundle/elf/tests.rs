//! Each rule, and bytes that nobody has checked.

use std::cell::RefCell;
use std::fs;

use cellar_stacks::Architecture::{Arm64, X86_64};
use object::read::elf::{FileHeader as _, SectionHeader as _};
use object::{LittleEndian, elf};
use proptest::prelude::*;

use super::fixture::{Fixture, Need};
use super::read::read;
use super::*;
use crate::bundle::limits::{MAX_DYNAMIC_ENTRIES, MAX_NAME_BYTES, MAX_VERSION_NEEDS};

fn check_x86(fixture: &Fixture) -> Result<Needs, ElfFault> {
    check(&fixture.bytes(), X86_64)
}

fn sound() -> Fixture {
    Fixture::sound(X86_64)
}

#[test]
fn a_binary_of_a_plain_build_is_fit() {
    for architecture in [X86_64, Arm64] {
        let needs = check(&Fixture::sound(architecture).bytes(), architecture).unwrap();
        assert_eq!(needs.glibc.unwrap().to_string(), "2.34");
    }
}

#[test]
fn a_static_binary_needs_nothing() {
    let fixture = Fixture { loader: None, libraries: vec![], ..sound() };
    assert_eq!(check_x86(&fixture).unwrap(), Needs { glibc: None });
    let fixed = Fixture { kind: 2, ..fixture };
    assert_eq!(check_x86(&fixed).unwrap(), Needs { glibc: None });
}

#[test]
fn another_processor_is_named() {
    let fault = check(&Fixture::sound(Arm64).bytes(), X86_64).unwrap_err();
    assert_eq!(fault.to_string(), "it is for arm64, and the functions are for x86_64");
    assert!(fault.help(X86_64).contains("x86_64-unknown-linux-gnu"));
    let fault = check_x86(&Fixture { machine: 243, ..sound() }).unwrap_err();
    assert!(fault.to_string().contains("a processor of number 243"), "{fault}");
}

#[test]
fn a_newer_glibc_is_refused_with_its_symbol_and_the_fix() {
    let fixture = sound().with("libc.so.6", ("GLIBC_2.38", 0, "__isoc23_strtol"));
    let fault = check_x86(&fixture.with("libm.so.6", ("GLIBC_2.35", 0, "hypot"))).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "it needs GLIBC_2.38 of libc.so.6 (for `__isoc23_strtol`); Amazon Linux 2023 has GLIBC_2.34"
    );
    let help = fault.help(X86_64);
    assert!(help.contains("pip install cargo-zigbuild"), "{help}");
    assert!(help.contains("--target x86_64-unknown-linux-gnu.2.34"), "{help}");
}

#[test]
fn versions_end_where_amazon_linux_ends() {
    let refused = |library, version| {
        let result = check_x86(&sound().with(library, (version, 0, "symbol")));
        matches!(result, Err(ElfFault::TooNew { version: found, .. }) if found == version)
    };
    assert!(!refused("libc.so.6", "GLIBC_2.34") && refused("libc.so.6", "GLIBC_2.35"));
    assert!(refused("libc.so.6", "GLIBC_2.34.1"));
    assert!(!refused("libgcc_s.so.1", "GCC_11.0") && refused("libgcc_s.so.1", "GCC_12.0.0"));
    // Not numbers: the first is nobody's business, the second came with GLIBC 2.36.
    assert!(refused("libc.so.6", "GLIBC_PRIVATE") && refused("libc.so.6", "GLIBC_ABI_DT_RELR"));
    assert!(refused("libc.so.6", "OTHER_1.0"));
}

#[test]
fn a_weak_need_is_none() {
    let weak: Need = ("GLIBC_2.39", elf::VER_FLG_WEAK, "pidfd_spawnp");
    assert_eq!(check_x86(&sound().with("libc.so.6", weak)), check_x86(&sound()));
}

#[test]
fn other_libraries_and_loaders_are_refused() {
    let fault = check_x86(&sound().with("libssl.so.3", ("OPENSSL_3.0.0", 0, "SSL_new")));
    assert_eq!(fault, Err(ElfFault::Library { name: "libssl.so.3".to_owned() }));
    let loader = ("GLIBC_2.3", 0, "__tls_get_addr");
    assert!(check_x86(&sound().with("ld-linux-x86-64.so.2", loader)).is_ok());
    assert!(check_x86(&sound().with("ld-linux-aarch64.so.1", loader)).is_err());
    let nix = "/nix/store/x-glibc/lib/ld-linux-x86-64.so.2";
    let fault = check_x86(&Fixture { loader: Some(nix), ..sound() }).unwrap_err();
    assert_eq!(fault, ElfFault::Loader { found: nix.to_owned() });
    assert!(fault.help(X86_64).contains("`/lib64/ld-linux-x86-64.so.2`"));
}

#[test]
fn what_is_no_program_is_named() {
    let found = |bytes: &[u8]| match check(bytes, X86_64) {
        Err(ElfFault::NotElf { found }) => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(found(b""), "an empty file");
    assert_eq!(found(b"\xcf\xfa\xed\xfe\x0c"), "a program for macOS");
    assert_eq!(found(b"MZ\x90\0"), "a program for Windows");
    assert_eq!(found(b"#!/bin/sh\n"), "a script");
    assert_eq!(found(b"\x7fEL"), "no program");
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
fn what_is_unknown_is_not_taken_for_nothing() {
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
fn counts_end_at_their_limits() {
    let too_many =
        |fixture: &Fixture| matches!(read(&fixture.bytes()), Err(ElfFault::TooMany { .. }));
    let needs = |count| {
        let versions = vec![("GLIBC_2.34", 0, "symbol"); count];
        Fixture { libraries: vec![("libc.so.6", versions)], ..sound() }
    };
    // The library counts, too.
    assert!(!too_many(&needs(MAX_VERSION_NEEDS - 1)) && too_many(&needs(MAX_VERSION_NEEDS)));
    // One entry says that there are versions.
    let none = |count| Fixture { libraries: vec![("libc.so.6", vec![]); count], ..sound() };
    assert!(!too_many(&none(MAX_DYNAMIC_ENTRIES - 1)) && too_many(&none(MAX_DYNAMIC_ENTRIES)));
    let named = |length| {
        let name: &'static str = "n".repeat(length).leak();
        Fixture { libraries: vec![(name, vec![])], ..sound() }
    };
    assert!(!too_many(&named(MAX_NAME_BYTES)) && too_many(&named(MAX_NAME_BYTES + 1)));
}

#[test]
fn versions_without_end_are_not_followed() {
    // One library whose versions each say that the next one is where they are themselves.
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
    /// A real binary, this one, and where what is read of it is. Each case changes it and takes that back.
    static REAL: RefCell<(Vec<u8>, Vec<usize>)> = RefCell::new(real());
}

/// Places: header, segments, what linkers put behind them, the dynamic section, the section headers.
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
fn this_very_binary_is_read() {
    REAL.with_borrow(|(bytes, _)| {
        let linked = read(bytes).unwrap();
        assert!(linked.is_program, "{linked:?}");
        if cfg!(target_env = "gnu") {
            assert!(linked.libraries.iter().any(|name| name == "libc.so.6"), "{linked:?}");
            let main = linked.versions.iter().any(|need| need.symbol.is_some());
            assert!(main, "{linked:?}");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_real_binary_with_changes_is_read_or_refused(
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
    fn a_small_binary_with_changes_is_read_or_refused(
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
    fn anything_behind_the_magic_number_is_read_or_refused(
        rest in prop::collection::vec(any::<u8>(), 0..512),
    ) {
        let bytes = [b"\x7fELF\x02\x01".as_slice(), &rest].concat();
        let _ = check(&bytes, X86_64);
    }
}
