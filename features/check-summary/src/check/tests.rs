//! Published figures of several quantities, judged: only figures of the same quantity and unit are compared, what
//! ministat printed is compared with its rows, and without n nothing is shown.

use crate::check::{Follows, Outcome, Shown, SummaryFindings, Terms, Why, check_summary};
use crate::published::claim::Claim;
use crate::published::read;

fn judge_at(text: &str, claims: &[&str], baseline: usize) -> SummaryFindings {
    let published = read("file", text).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    let read_claim = |claim: &&str| {
        Claim::read(claim, &published.summaries, baseline)
            .unwrap_or_else(|problems| panic!("{}", problems.render(false)))
    };
    let claims: Vec<Claim> = claims.iter().map(read_claim).collect();
    let terms = Terms { baseline, margin: 0.01, confidence: 0.95, more_is_better: false };
    check_summary(&published, &claims, terms)
}

fn judge(text: &str, claims: &[&str]) -> SummaryFindings {
    judge_at(text, claims, 0)
}

fn pairs(findings: &SummaryFindings) -> Vec<String> {
    let pair = |c: &crate::check::Comparison| {
        format!("{}: {} against {}", c.pair.quantity.as_deref().unwrap_or("-"), c.pair.name, c.pair.baseline)
    };
    findings.comparisons.iter().map(pair).collect()
}

#[test]
fn only_figures_of_one_quantity_and_unit_are_compared() {
    let sections = "idle\nA avg 2 n 3\nB avg 3 n 3\nC avg 3 n 3\nloaded\nB avg 2 n 3\nC avg 2 n 3\n";
    assert_eq!(pairs(&judge(sections, &[])), ["idle: B against A", "idle: C against A", "loaded: C against B"]);
    assert_eq!(
        pairs(&judge_at(sections, &[], 2)),
        ["idle: A against C", "idle: B against C", "loaded: B against C"],
        "the baseline is the one of this name in every quantity"
    );
    assert!(judge("A avg 2 s n 3\nB avg 200 kB n 3\n", &[]).comparisons.is_empty());
    let table = "build,n,real avg (s),real sd (s),rss avg (kB)\nold,3,2.0,0.1,9000\nnew,3,1.9,0.1,9100\n";
    assert_eq!(pairs(&judge(table, &[])), ["real: new against old", "rss: new against old"]);
    let lists = |rss: u32| format!("  2.5 real  2.1 user  0.1 sys\n  {rss}  maximum resident set size\n");
    let findings = judge(&format!("gcc\n{}clang\n{}", lists(9000), lists(9100)), &[]);
    assert_eq!(findings.comparisons.len(), 4);
    assert!(findings.comparisons.iter().all(|c| c.differ == Shown::Unknown && c.missing.len() == 2));
}

#[test]
fn without_n_means_are_compared_and_nothing_is_shown() {
    let text = "old avg 0.61 min 0.40 max 1.92\nnew avg 0.44 min 0.31 max 1.20\n";
    let claims = ["new 28% faster", "new 10% faster", "new 2x faster", "equally fast", "new 38.6% faster"];
    let findings = judge(text, &claims);
    let outcomes: Vec<Outcome> = findings.claims.iter().map(|claim| claim.outcome).collect();
    use Outcome::{Contradicted, NotShown};
    assert_eq!(outcomes, [NotShown, Contradicted, Contradicted, NotShown, NotShown]);
    assert_eq!(findings.claims[0].why, Why::TooLittleKnown);
    assert_eq!(findings.comparisons[0].missing, ["n and the sd of old", "n and the sd of new"]);
    assert!(findings.comparisons[0].welch.is_none() && findings.comparisons[0].ratio.is_some());
    assert!(findings.caveats.iter().any(|caveat| caveat.kind() == "n-unknown"));
    assert!(!findings.caveats.iter().any(|caveat| caveat.kind() == "model-based"), "there is no interval");
    let impossible = |text: &str| judge(text, &[]).summaries[0].impossible.clone();
    assert_eq!(impossible("A avg 2 sd 0.5 min 1 max 3"), None);
    let why = impossible("A avg 4.0 min 1.0 max 3.0").unwrap();
    assert!(why.contains("the mean 4.0 cannot be right"), "{why}");
    let why = impossible("A avg 2.00 sd 1.50 min 1.00 max 3.00").unwrap();
    assert!(why.contains("whatever n is") && why.contains("at most 1.4"), "{why}");
}

/// Three values each: means 4.24 and 4.3333333, pooled deviation 0.0276887, t(0.975, 4) = 2.776.
const TABLE: &str = "    N Min Max Median Avg Stddev\nx 3 4.21 4.27 4.24 4.24 0.03\n\
                     + 3 4.31 4.36 4.33 4.3333333 0.025166115\n";

#[test]
fn what_ministat_printed_follows_or_not() {
    use Follows::{OtherDifference, OtherOutcome, OtherWidth, Unknown, Yes};
    for (said, expect) in [
        (
            "Difference at 95.0% confidence\n\t0.0933333 +/- 0.0627592\n\t2.20126% +/- 1.48017%\n\t(Student's t, pooled s = 0.0276887)",
            Yes,
        ),
        // FreeBSD's of today: with the error of the first mean, 2.776/4.24 √(s₂² + s₁² (4.3333/4.24)²)/√3.
        ("Difference at 95.0% confidence\n\t0.0933333 +/- 0.0627592\n\t2.20126% +/- 1.49938%", Yes),
        ("Difference at 95.0% confidence\n\t0.09 +/- 0.06\n\t2% +/- 1.5%", Yes),
        ("Difference at 95.0% confidence", Yes),
        ("Difference at 95.0% confidence\n\t0.12 +/- 0.06", OtherDifference),
        ("Difference at 95.0% confidence\n\t0.0933333 +/- 0.0627592\n\t-2.20126% +/- 1.48017%", OtherDifference),
        ("Difference at 95.0% confidence\n\t0.0933333 +/- 0.0427592", OtherWidth),
        ("Difference at 95.0% confidence\n\t0.0933333 +/- 0.0627592\n\t2.20126% +/- 2.48017%", OtherWidth),
        ("Difference at 95.0% confidence\n\t(Student's t, pooled s = 0.03)", Yes),
        ("Difference at 95.0% confidence\n\t(Student's t, pooled s = 0.0376887)", OtherWidth),
        // At 99 % t is 4.604, and the half-width 0.104.
        ("Difference at 99.0% confidence\n\t0.0933333 +/- 0.0627592", OtherOutcome),
        ("No difference proven at 99.0% confidence", Yes),
        ("No difference proven at 95.0% confidence", OtherOutcome),
    ] {
        let findings = judge(&format!("{TABLE}{said}\n"), &[]);
        assert_eq!(findings.stated.len(), 1);
        assert_eq!(findings.stated[0].follows, expect, "{said}: {:?}", findings.stated[0].difference);
    }
    for table in
        [TABLE.replace("4.31 4.36 4.33 4.3333333 0.025166115", "- - - 4.3333333 -"), TABLE.replace("4.36", "4.32")]
    {
        let findings = judge(&format!("{table}Difference at 95.0% confidence\n"), &[]);
        assert_eq!(findings.stated[0].follows, Unknown);
    }
}

#[test]
fn times_are_judged_as_ratios() {
    let text = "A avg 2.00 sd 0.02 n 9\nB avg 4.02 sd 0.02 n 9\n";
    for (claim, outcome) in [
        ("B 2x slower", Outcome::Supported),
        ("A 2x less", Outcome::Supported),
        ("B 2x slower than A", Outcome::Supported),
        ("A 2x faster than B", Outcome::Supported),
        ("B 3x slower", Outcome::Contradicted),
        ("B 2x faster", Outcome::Contradicted),
        ("B ~110% slower", Outcome::Supported),
        ("B 110% slower", Outcome::Contradicted),
        ("equally fast", Outcome::Contradicted),
    ] {
        assert_eq!(judge(text, &[claim]).claims[0].outcome, outcome, "{claim}");
    }
}
