//! The words of a claim that carry its meaning, and what they say together.

use super::says::{Amount, Says, Way};

/// Words that say nothing of their own.
const FILLING: &[&str] = &[
    "is", "was", "are", "were", "be", "by", "than", "the", "a", "an", "to", "and", "within", "in", "at", "with", "of",
    "as", "on", "average", "takes", "took", "take", "needs", "needed", "runs", "ran", "run", "both", "between", "from",
    "there", "has", "have", "percent", "±", "+/-", "against", "vs", "vs.", "versus", "over", "compared", "relative",
    "it", "just", "exactly", "only", "much", "performs", "for",
];

/// After these a name is what something is compared with.
const BEFORE_OBJECT: &[&str] = &["than", "against", "vs", "vs.", "versus", "over", "as", "to", "compared"];

/// What was heard of a claim.
#[derive(Debug, Default)]
pub(super) struct Said {
    way: Option<Way>,
    /// `as fast`, `as long`.
    as_way: Option<Way>,
    equal: bool,
    different: bool,
    significant: bool,
    negated: bool,
    two_ways: bool,
    time: bool,
    within: bool,
    before_object: bool,
    /// `half`, `a third`: the amount divides.
    pub(super) is_fraction: bool,
}

impl Said {
    /// False if the word is not known.
    pub(super) fn hear(&mut self, word: &str) -> bool {
        // `compared with the A`.
        let goes_on = self.before_object && matches!(word, "with" | "the" | "to");
        self.before_object = BEFORE_OBJECT.contains(&word) || goes_on;
        let way = match word {
            "faster" | "quicker" | "better" | "speedup" | "speed-up" | "improvement" => Some(Way::Faster),
            "slower" | "longer" | "worse" | "slowdown" | "slow-down" | "regression" => Some(Way::Slower),
            "more" | "higher" | "larger" | "bigger" | "greater" => Some(Way::More),
            "less" | "lower" | "smaller" | "fewer" => Some(Way::Less),
            _ => None,
        };
        let as_way = match word {
            "fast" | "quick" | "quickly" | "good" => Some(Way::Faster),
            "long" | "slow" => Some(Way::Slower),
            "many" | "large" | "big" | "high" => Some(Way::More),
            _ => None,
        };
        self.two_ways |= way.is_some() && self.way.is_some() || as_way.is_some() && self.as_way.is_some();
        self.way = way.or(self.way);
        self.as_way = as_way.or(self.as_way);
        self.within |= word == "within";
        match word {
            "equal" | "equals" | "equally" | "equivalent" | "same" | "identical" | "=" | "==" | "≈" => {
                self.equal = true
            }
            "difference" | "differences" | "different" | "differ" | "differs" | "!=" | "≠" => self.different = true,
            "significant" | "significantly" => self.significant = true,
            "not" | "no" | "isn't" | "without" => self.negated = !self.negated,
            "time" | "times" => self.time = true,
            _ => return way.is_some() || as_way.is_some() || FILLING.contains(&word),
        }
        true
    }

    /// Whether a name that stands next is the one that is compared with; asking takes the word back.
    pub(super) fn is_object_next(&mut self) -> bool {
        std::mem::take(&mut self.before_object)
    }

    /// What the words and the amount say together.
    pub(super) fn says(&self, amount: Option<Amount>) -> Result<Says, &'static str> {
        if self.two_ways || (self.way.is_some() && self.as_way.is_some()) {
            return Err("it says two ways at once");
        }
        let of_difference = self.different || (self.significant && self.way.is_none());
        let is_times = matches!(amount, Some(Amount::Times(_)));
        match (self.way, self.equal, of_difference) {
            (None, false, false) if is_times => self.times(amount),
            (None, false, false) if self.as_way.is_some() => self.as_fast(amount),
            (Some(_), false, false) if self.is_fraction => Err("`half` goes with `as fast`, `as long` or `the time`"),
            (Some(_), false, false) if self.negated => {
                Err("what is denied here? `not slower` is judged by neither form")
            }
            (Some(way), false, false) => match amount {
                Some(Amount::Times(figure)) if figure.value < 1.0 => Err("so much `times` is 1 or more"),
                amount => Ok(Says::Differs { way, amount }),
            },
            (None, true, false) if self.negated => Ok(Says::Different),
            (None, true, false) => within(amount),
            (None, false, true) if self.negated && self.significant => Ok(Says::NotSignificant),
            (None, false, true) if self.negated => within(amount),
            (None, false, true) if amount.is_none() => Ok(Says::Different),
            (None, false, true) => Err("a difference with an amount, but no way"),
            (None, false, false) => Err("it says neither faster nor slower, neither equal nor different"),
            _ => Err("it says several things at once"),
        }
    }

    /// `twice as long`, `half as fast`, `three times the memory`.
    fn times(&self, amount: Option<Amount>) -> Result<Says, &'static str> {
        if self.negated {
            return Err("what is denied here? say what the figures are to show");
        }
        if matches!(&amount, Some(Amount::Times(figure)) if figure.value < 1.0) {
            return Err("`times` goes with 1 or more; say `half as fast`, or `20% slower`");
        }
        let more = self.as_way.unwrap_or(if self.time { Way::Slower } else { Way::More });
        Ok(Says::Differs { way: if self.is_fraction { more.opposite() } else { more }, amount })
    }

    /// `as fast as`, which is equality, and `not as fast as`, which is not.
    fn as_fast(&self, amount: Option<Amount>) -> Result<Says, &'static str> {
        match (self.as_way, amount) {
            (Some(way), None) if self.negated => Ok(Says::Differs { way: way.opposite(), amount: None }),
            (_, amount) if !self.negated && (amount.is_none() || self.within) => within(amount),
            _ => Err("say `1.4% slower`, or `as fast within 1.4%`"),
        }
    }
}

impl Way {
    fn opposite(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            Self::More => Self::Less,
            Self::Less => Self::More,
        }
    }
}

fn within(amount: Option<Amount>) -> Result<Says, &'static str> {
    match amount {
        None => Ok(Says::Equal { within: None }),
        Some(Amount::Percent(figure)) => Ok(Says::Equal { within: Some(figure) }),
        Some(_) => Err("equality is within a percentage"),
    }
}

/// Whether a word means something in a claim, and so is no unit.
pub(super) fn is_known(word: &str) -> bool {
    Said::default().hear(word)
}
