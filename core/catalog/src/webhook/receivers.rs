//! Restricts the addresses to which the webhook may send deliveries.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 address blocks that are not part of the public internet (RFC 6890 and the IANA registry),
/// as prefix and prefix length.
const NOT_PUBLIC_V4: [(Ipv4Addr, u32); 13] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast and reserved addresses.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// The block from which all public IPv6 addresses have been assigned so far.
const PUBLIC_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Blocks within [`PUBLIC_V6`] that are reserved for tunneling and documentation.
const NOT_PUBLIC_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

const LOCALHOST: &str = "localhost";

/// Which addresses may receive deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receivers {
    Public,
    /// Addresses of the public internet and, for development, 127.0.0.1.
    PublicAndLocalhost,
}

impl Receivers {
    /// Returns whether deliveries may be sent to an address.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        let is_localhost = address == IpAddr::V4(Ipv4Addr::LOCALHOST);
        is_public(address) || (self == Self::PublicAndLocalhost && is_localhost)
    }

    /// Returns whether deliveries may be sent to a URL, without resolving its host name. A host
    /// that ends with a number is rejected, because some resolvers interpret addresses such as
    /// `https://2130706433` as the local machine.
    #[must_use]
    pub fn allows_url(self, url: &str) -> bool {
        let Some(host) = host_of(url) else { return false };
        if let Ok(address) = host.parse() {
            return self.allows(address);
        }
        let last_label = host.rsplit('.').next().unwrap_or_default();
        let is_number =
            last_label.starts_with("0x") || last_label.bytes().all(|byte| byte.is_ascii_digit());
        !is_number && last_label != LOCALHOST
    }
}

/// Returns the host of a URL in lowercase, without the brackets of an IPv6 address and without a
/// trailing dot.
fn host_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split_once(']')?.0,
        None => authority.split(':').next()?,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    Some(host.to_ascii_lowercase())
}

/// Returns whether an address is public. Addresses of the local machine, of the local network and
/// of services such as 169.254.169.254 are not.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NOT_PUBLIC_V4.iter().any(|block| is_in_v4_block(address, *block)),
        IpAddr::V6(address) => {
            is_in_v6_block(address, PUBLIC_V6)
                && !NOT_PUBLIC_V6.iter().any(|block| is_in_v6_block(address, *block))
        }
    }
}

fn is_in_v4_block(address: Ipv4Addr, (prefix, prefix_length): (Ipv4Addr, u32)) -> bool {
    let host_bits = u32::BITS.saturating_sub(prefix_length);
    address.to_bits().checked_shr(host_bits) == prefix.to_bits().checked_shr(host_bits)
}

fn is_in_v6_block(address: Ipv6Addr, (prefix, prefix_length): (Ipv6Addr, u32)) -> bool {
    let host_bits = u128::BITS.saturating_sub(prefix_length);
    address.to_bits().checked_shr(host_bits) == prefix.to_bits().checked_shr(host_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the last address of each block, and some addresses in between.
    const NOT_PUBLIC: &str = "
        0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255
        127.0.0.0 127.0.0.1 127.255.255.255 169.254.0.0 169.254.169.254 169.254.255.255
        172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.7 192.168.0.0 192.168.255.255
        198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.0 239.255.255.255
        240.0.0.0 255.255.255.255
        :: ::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::ffff:8.8.8.8 ::7f00:1 64:ff9b::7f00:1
        fc00:: fd00:ec2::254 fdff::1 fe80::1 febf::1 fec0::1 ff00:: ff02::1 100::1
        2001::1 2001:1ff::1 2001:db8::1 2002:7f00:1:: 3fff::1 1fff:: 4000::";

    /// The addresses directly before and after the blocks, and some other public addresses.
    const PUBLIC: &str = "
        1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
        169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255
        192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
        2000:: 2001:200::1 2001:db7::1 2001:db9::1 2003::1 2606:4700::1111 3ffe::1";

    #[test]
    fn private_and_special_addresses_receive_nothing() {
        for (texts, good) in [(NOT_PUBLIC, false), (PUBLIC, true)] {
            for text in texts.split_whitespace() {
                assert_eq!(Receivers::Public.allows(text.parse().unwrap()), good, "{text}");
            }
        }
    }

    #[test]
    fn rejects_urls_of_the_local_machine_and_of_numbers() {
        for url in [
            "https://hooks.example.com/a?b=c",
            "https://hooks.example.com:8443",
            "https://8.8.8.8/",
            "https://a.example.",
            "https://[2606:4700::1111]:443/x",
            "https://10.example.com",
            "https://localhost.example.com",
        ] {
            assert!(Receivers::Public.allows_url(url), "{url}");
        }
        for url in [
            "https://localhost",
            "https://localhost:9001/",
            "https://LOCALHOST./",
            "https://a.localhost",
            "https://127.0.0.1",
            "https://127.0.0.1.",
            "https://127.1",
            "https://0x7f.0.0.1",
            "https://0x7f000001",
            "https://2130706433",
            "https://0177.0.0.1",
            "https://0",
            "https://169.254.169.254/latest/meta-data",
            "https://10.0.0.7:443/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]",
            "https://[fd00:ec2::254]",
            "https://[::1",
            "https://",
            "hooks.example.com",
            "https://127.0.0.1\\@a.example/",
        ] {
            assert!(!Receivers::Public.allows_url(url), "{url}");
        }
        let developing = Receivers::PublicAndLocalhost;
        assert!(developing.allows_url("http://127.0.0.1:9000/hook"));
        for url in
            ["http://127.0.0.2", "https://[::1]", "https://169.254.169.254", "https://localhost"]
        {
            assert!(!developing.allows_url(url), "{url}");
        }
    }
}
