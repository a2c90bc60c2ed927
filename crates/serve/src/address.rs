//! Where a server is: `https://HOST:PORT/PREFIX?ca=FILE`.

use std::net::IpAddr;
use std::path::PathBuf;

/// A server's address. Port and prefix may be missing. `ca` names a PEM file of certificates to trust in
/// place of the machine's own. `http://` is for this machine alone, as a token would travel in the clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAddress {
    base: String,
    ca: Option<PathBuf>,
}

impl HttpAddress {
    /// Whether `text` is meant as such an address.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.starts_with("https://") || text.starts_with("http://")
    }

    /// Reads an address.
    ///
    /// # Errors
    /// In one line, what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let mut ca = None;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("ca", file)) if !file.is_empty() => ca = Some(PathBuf::from(file)),
                _ => return Err(format!("{pair:?} in {text}: ca=FILE is all there is")),
            }
        }
        let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
        let authority = rest.split('/').next().unwrap_or_default();
        if authority.contains('@') {
            return Err(
                "no user and password in the address: the token is given by --token".to_owned()
            );
        }
        let host = host(authority);
        if host.is_empty() {
            return Err(format!("no host in {text}"));
        }
        match scheme {
            "https" => {}
            "http" if is_here(host) => {}
            "http" => {
                return Err(format!(
                    "{text} would send the token in the clear; write https://{authority}"
                ));
            }
            _ => return Err(format!("{text} is no https://HOST:PORT")),
        }
        Ok(Self { base: base.trim_end_matches('/').to_owned(), ca })
    }

    /// The address of a call.
    pub(crate) fn of(&self, call: &str) -> String {
        format!("{}/v1/{call}", self.base)
    }

    /// The certificates to trust, if not the machine's.
    pub(crate) fn ca(&self) -> Option<&PathBuf> {
        self.ca.as_ref()
    }
}

/// The host of `HOST:PORT`, without the brackets of an IPv6 address.
fn host(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_on_this_machine() {
        let parsed =
            HttpAddress::parse("https://go.example:8443/runs/9x9/?ca=/etc/ca.pem").unwrap();
        assert_eq!(parsed.of("state"), "https://go.example:8443/runs/9x9/v1/state");
        assert_eq!(parsed.ca(), Some(&PathBuf::from("/etc/ca.pem")));
        for here in
            ["http://localhost:80", "http://127.0.0.1", "http://[::1]:8443", "https://[::1]"]
        {
            assert!(HttpAddress::parse(here).is_ok(), "{here}");
        }
        for (bad, words) in [
            ("http://go.example", "in the clear"),
            ("http://127.0.0.1.example", "in the clear"),
            ("http://10.0.0.1", "in the clear"),
            ("https://", "no host"),
            ("https://:443", "no host"),
            ("https://me:pw@host", "--token"),
            ("https://host?token=x", "ca=FILE"),
            ("https://host?ca=", "ca=FILE"),
            ("ftp://host", "no https"),
        ] {
            let refused = HttpAddress::parse(bad).unwrap_err();
            assert!(refused.contains(words), "{bad}: {refused}");
        }
    }
}
