//! Parses the ELF headers of an untrusted binary, with limits on time and memory.

use std::collections::{BTreeMap, BTreeSet};

use object::elf::{
    DT_NEEDED, DT_VERNEED, ELFCLASS64, ELFDATA2LSB, ET_DYN, ET_EXEC, FileHeader64, PT_DYNAMIC,
    VER_FLG_WEAK, VERSYM_VERSION,
};
use object::read::elf::{
    FileHeader as _, ProgramHeader as _, SectionTable, Sym as _, VerneedIterator,
};
use object::{LittleEndian, StringTable};

use super::fault::ElfFault;
use crate::bundle::limits::{MAX_DYNAMIC_ENTRIES, MAX_NAME_BYTES, MAX_VERSION_NEEDS};

type Header = FileHeader64<LittleEndian>;
type Sections<'data> = SectionTable<'data, Header>;
type Strings<'data> = StringTable<'data>;

const ENDIAN: LittleEndian = LittleEndian;
/// The class and the byte order follow the magic bytes.
const ELF_MAGIC: &[u8] = b"\x7fELF";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BinaryHeaders {
    pub(super) machine: u16,
    pub(super) is_program: bool,
    /// `None` if the binary is statically linked.
    pub(super) loader: Option<String>,
    pub(super) libraries: Vec<String>,
    pub(super) versions: Vec<VersionNeed>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VersionNeed {
    pub(super) version: String,
    pub(super) library: String,
    /// Name of a symbol in the binary that requires this version, as an example.
    pub(super) symbol: Option<String>,
}

pub(super) fn read_headers(binary: &[u8]) -> Result<BinaryHeaders, ElfFault> {
    check_format(binary)?;
    let header = Header::parse(binary).map_err(malformed)?;
    let section_headers = header.section_headers(ENDIAN, binary).map_err(malformed)?;
    let sections = Sections::new(section_headers, Strings::default());
    let mut loader = None;
    let mut is_dynamic = false;
    for segment in header.program_headers(ENDIAN, binary).map_err(malformed)? {
        if segment.p_type(ENDIAN) == PT_DYNAMIC {
            is_dynamic = true;
        }
        if let Some(loader_path) = segment.interpreter(ENDIAN, binary).map_err(malformed)? {
            loader = Some(parse_name(loader_path)?);
        }
    }
    let is_executable_type = matches!(header.e_type(ENDIAN), ET_EXEC | ET_DYN);
    let has_entry_point = header.e_entry(ENDIAN) != 0;
    let LibraryNeeds { libraries, has_versions } =
        read_library_needs(binary, &sections, is_dynamic)?;
    Ok(BinaryHeaders {
        machine: header.e_machine(ENDIAN),
        is_program: is_executable_type && has_entry_point,
        loader,
        libraries,
        versions: read_version_needs(binary, &sections, has_versions)?,
    })
}

fn check_format(binary: &[u8]) -> Result<(), ElfFault> {
    let Some(ident) = binary.strip_prefix(ELF_MAGIC) else {
        return Err(ElfFault::NotElf { actual: describe_format(binary) });
    };
    match ident.get(..2) {
        Some([ELFCLASS64, ELFDATA2LSB]) => Ok(()),
        Some(_) => Err(ElfFault::Class),
        None => Err(ElfFault::Malformed("the header is truncated".to_owned())),
    }
}

fn describe_format(binary: &[u8]) -> &'static str {
    match binary {
        [] => "an empty file",
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => "a program for macOS",
        [b'M', b'Z', ..] => "a program for Windows",
        [b'#', b'!', ..] => "a script",
        _ => "a file of unknown format",
    }
}

struct LibraryNeeds {
    libraries: Vec<String>,
    has_versions: bool,
}

/// The names are read from the section headers, whereas the dynamic loader uses the segments. A
/// dynamically linked binary without section headers is rejected, because its libraries would not
/// be found.
fn read_library_needs(
    binary: &[u8],
    sections: &Sections<'_>,
    is_dynamic: bool,
) -> Result<LibraryNeeds, ElfFault> {
    let dynamic_table = sections.dynamic_table(ENDIAN, binary).map_err(malformed)?;
    if is_dynamic && dynamic_table.is_empty() {
        return Err(ElfFault::Malformed("it has no section headers".to_owned()));
    }
    let mut needs = LibraryNeeds { libraries: Vec::new(), has_versions: false };
    for (index, entry) in dynamic_table.iter().enumerate() {
        if index >= MAX_DYNAMIC_ENTRIES {
            let item = "entries in its dynamic section";
            return Err(ElfFault::TooMany { item, limit: MAX_DYNAMIC_ENTRIES });
        }
        match entry.tag {
            DT_VERNEED => needs.has_versions = true,
            DT_NEEDED => {
                let file_name = dynamic_table.string(entry).map_err(malformed)?;
                needs.libraries.push(parse_name(file_name)?);
            }
            _ => {}
        }
    }
    Ok(needs)
}

/// Weak requirements are omitted, because the loader also runs a binary whose weak requirements are
/// not met.
fn read_version_needs(
    binary: &[u8],
    sections: &Sections<'_>,
    has_versions: bool,
) -> Result<Vec<VersionNeed>, ElfFault> {
    let version_table = sections.gnu_verneed(ENDIAN, binary).map_err(malformed)?;
    let Some((mut libraries, strings_index)) = version_table else {
        if has_versions {
            return Err(ElfFault::Malformed("its list of versions is missing".to_owned()));
        }
        return Ok(Vec::new());
    };
    let strings = sections.strings(ENDIAN, binary, strings_index).map_err(malformed)?;
    let mut needs_by_index = read_strong_needs(&mut libraries, strings)?;
    let version_indexes = needs_by_index.iter().map(|(version_index, _)| *version_index);
    let mut symbols = read_symbols(binary, sections, version_indexes)?;
    for (version_index, need) in &mut needs_by_index {
        need.symbol = symbols.remove(version_index);
    }
    Ok(needs_by_index.into_iter().map(|(_, need)| need).collect())
}

/// Reads the required library versions that are not weak, each with its version index. The caller
/// must set the field `symbol`.
fn read_strong_needs(
    libraries: &mut VerneedIterator<'_, Header>,
    strings: Strings<'_>,
) -> Result<Vec<(u16, VersionNeed)>, ElfFault> {
    let mut needs_by_index = Vec::new();
    let mut version_budget = MAX_VERSION_NEEDS;
    while let Some((library, mut versions)) = libraries.next().map_err(malformed)? {
        let library_name = parse_name(library.file(ENDIAN, strings).map_err(malformed)?)?;
        spend_version_budget(&mut version_budget)?;
        while let Some(version) = versions.next().map_err(malformed)? {
            spend_version_budget(&mut version_budget)?;
            let is_weak = version.vna_flags.get(ENDIAN) & VER_FLG_WEAK != 0;
            if !is_weak {
                let version_index = version.vna_other.get(ENDIAN) & VERSYM_VERSION;
                let version_name = parse_name(version.name(ENDIAN, strings).map_err(malformed)?)?;
                let need = VersionNeed {
                    version: version_name,
                    library: library_name.clone(),
                    symbol: None,
                };
                needs_by_index.push((version_index, need));
            }
        }
    }
    Ok(needs_by_index)
}

fn spend_version_budget(budget: &mut usize) -> Result<(), ElfFault> {
    let too_many = ElfFault::TooMany { item: "library versions", limit: MAX_VERSION_NEEDS };
    *budget = budget.checked_sub(1).ok_or(too_many)?;
    Ok(())
}

fn read_symbols(
    binary: &[u8],
    sections: &Sections<'_>,
    version_indexes: impl Iterator<Item = u16>,
) -> Result<BTreeMap<u16, String>, ElfFault> {
    let mut symbol_names = BTreeMap::new();
    let mut missing_indexes: BTreeSet<u16> = version_indexes.collect();
    let version_table = sections.gnu_versym(ENDIAN, binary).map_err(malformed)?;
    let Some((symbol_versions, symbols_index)) = version_table else { return Ok(symbol_names) };
    let symbols =
        sections.symbol_table_by_index(ENDIAN, binary, symbols_index).map_err(malformed)?;
    for (symbol, version) in symbols.iter().zip(symbol_versions) {
        let version_index = version.0.get(ENDIAN) & VERSYM_VERSION;
        if missing_indexes.remove(&version_index) {
            let name = symbol.name(ENDIAN, symbols.strings()).map_err(malformed)?;
            symbol_names.insert(version_index, parse_name(name)?);
        }
    }
    Ok(symbol_names)
}

/// Rejects a long name, because a malicious binary can reference the same long name many times.
fn parse_name(name: &[u8]) -> Result<String, ElfFault> {
    if name.len() > MAX_NAME_BYTES {
        return Err(ElfFault::TooMany { item: "bytes in a name", limit: MAX_NAME_BYTES });
    }
    Ok(String::from_utf8_lossy(name).into_owned())
}

fn malformed(error: object::read::Error) -> ElfFault {
    ElfFault::Malformed(error.to_string())
}
