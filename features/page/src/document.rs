//! The frame of every page: one file that needs nothing else. Its policy allows this style sheet and this script by their digests,
//! and nothing besides: no network, no image, no other script, whatever a name may contain.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");

/// Seconds after which a page that is written again reloads itself.
const RELOAD_S: u32 = 30;

/// A page with this title; `data` is JSON for the script, of which `<` is escaped. `reloads` is for one that is written again.
pub(crate) fn document(title: &str, body: &Markup, data: Option<&str>, reloads: bool) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                @if reloads { meta http-equiv="refresh" content=(RELOAD_S); }
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                @if let Some(data) = data { script type="application/json" id="data" { (PreEscaped(data)) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// What the page may load and run.
fn policy() -> String {
    let digest = |text: &str| BASE64.encode(Sha256::digest(text.as_bytes()));
    let (style, script) = (digest(STYLE), digest(SCRIPT));
    [
        "default-src 'none'; style-src 'sha256-",
        &style,
        "'; script-src 'sha256-",
        &script,
        "'; base-uri 'none'; form-action 'none'",
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_its_own_script_may_be_executed() {
        let page = document("<script>", &html! { p { "<img src=x>" } }, Some("{}"), false);
        assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"), "{page}");
        assert_eq!(page.matches("<script").count(), 2);
        assert!(page.contains("<title>&lt;script&gt;</title>") && !page.contains("<img"));
        // What would end the elements, or needs a permission that is not given.
        for text in [STYLE, SCRIPT] {
            assert!(
                !text.contains("</") && !text.contains("http:") && !text.contains("https:") && !text.contains("url(")
            );
        }
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("eval("));
    }
}
