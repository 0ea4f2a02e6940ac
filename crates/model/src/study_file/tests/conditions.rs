//! What the reader accepts of run factors, services, workloads that tell something, conditions and void rules, and
//! what it says of each mistake in them.

use super::{messages, parse};
use crate::metric::{Direction, Unit};
use crate::shuffle::Stream;
use crate::study::{
    Condition, Levels, LoadOf, LoadSpec, OpSpec, Per, Ready, Service, Study, Take, ValueSource, ValueSpec, Vary,
    VoidRule,
};

/// A study without builds, to which each case adds its own.
const HEAD: &str = "\
format = 1
name = \"t\"
[run_factors.locale]
c = { LC_ALL = \"C\" }
utf8 = { LC_ALL = \"C.UTF-8\", MODE = \"wide\" }
[run_factors.cache]
off = {}
on = { CACHE = \"1\" }
";
const DECIDE: &str = "[decide]\nbaseline = { locale = \"c\", cache = \"off\" }\n";
const WORKLOAD: &str = "[workloads.sort]\nrun = \"sort words\"\n";
const SERVICE: &str = "[services.store]\nrun = 'store -p \"$PORT_store\"'\n";

fn study(middle: &str) -> Study {
    let text = format!("{HEAD}{middle}{DECIDE}");
    parse(&text).unwrap_or_else(|_| panic!("{}", messages(&text)))
}

#[test]
fn a_study_may_vary_only_how_a_program_is_executed() {
    let study = study(WORKLOAD);
    assert_eq!(study.build_factors, []);
    let levels = &study.run_factors[0].levels;
    assert_eq!(levels[1].variables["LC_ALL"], "C.UTF-8");
    assert_eq!(study.run_factors[1].levels[0].variables.len(), 0, "an empty level sets nothing");
    let baseline = [("cache", "off"), ("locale", "c")].map(|(factor, level)| (factor.to_owned(), level.to_owned()));
    assert_eq!(study.decide.baseline, Levels::from(baseline));
}

#[test]
fn services_are_read_whole() {
    let whole = "[services.log_2]
run = 'store -p $PORT_log_2'
ready = { log = \"listening\", within = \"1 min\" }
per = \"block\"
stop = { signal = \"SIGINT\", within = \"100 ms\" }
files = [\"store.conf\"]
[services.asks]
run = 'PREFIX=/usr store'
ready = { command = 'store-ping $PORT_asks' }
[services.ports]
run = '\"$PREFIX/bin/store\" $MODE'
ready = { tcp = \"${PORT_ports}\" }
";
    let services = study(&format!("{SERVICE}{whole}{WORKLOAD}")).services;
    let store = Service {
        name: "store".into(),
        run: "store -p \"$PORT_store\"".into(),
        ready: Ready::Started,
        ready_within_s: 10.0,
        per: Per::Trial,
        stop_signal: 15,
        stop_within_s: 5.0,
        files: vec![],
    };
    assert_eq!(services[0], store);
    let log = Service {
        name: "log_2".into(),
        run: "store -p $PORT_log_2".into(),
        ready: Ready::Log("listening".into()),
        ready_within_s: 60.0,
        per: Per::Block,
        stop_signal: 2,
        stop_within_s: 0.1,
        files: vec!["store.conf".into()],
    };
    assert_eq!(services[1], log);
    assert_eq!(services[2].ready, Ready::Command("store-ping $PORT_asks".into()));
    assert_eq!(services[3].ready, Ready::Tcp("${PORT_ports}".into()));
}

#[test]
fn workloads_say_what_they_tell_and_what_they_need() {
    let other = "[services.other]\nrun = 'other'
[workloads.send]
run = 'send $PORT_store'
phases = [\"load\", \"scan\"]
ops = { unit = \"message\", count = 178, names = [\"quote\", \"book\"] }
services = [\"store\"]
divided = true
oracle = 'check $PORT_store'
timeout = \"30 s\"
[workloads.send.values]
sent = { unit = \"1\" }
latency = { unit = \"ms\", regex = 'mean ([0-9.]+)' }
rate = { unit = \"1/s\", json = \"all.0.rate\" }
lost = { unit = \"%\", csv = \"lost\", take = \"max\", better = \"less\" }
moved = { unit = \"MiB\", csv = 2, better = \"more\" }
";
    let study = study(&format!("{SERVICE}{other}{WORKLOAD}"));
    let send = &study.workloads[0];
    assert_eq!(send.phases, ["load", "scan"]);
    let names = vec!["quote".to_owned(), "book".to_owned()];
    assert_eq!(send.ops, Some(OpSpec { unit: "message".into(), count: Some(178), names }));
    assert_eq!((send.oracle.as_deref(), send.timeout_s), (Some("check $PORT_store"), Some(30.0)));
    assert_eq!(send.services, ["store"]);
    assert_eq!((send.divided, study.workloads[1].divided), (true, false));
    assert_eq!(study.workloads[1].services, ["store", "other"], "all of them, unless it says which");
    let value = |name: &str, from, unit, scale, better| ValueSpec {
        name: name.to_owned(),
        from,
        unit,
        scale,
        better,
        exact: false,
    };
    let csv = |column: &str, take| ValueSource::Csv { column: column.to_owned(), take };
    let expect = [
        value("sent", ValueSource::Mark, Unit::Count, 1.0, Direction::Less),
        value("latency", ValueSource::Regex("mean ([0-9.]+)".into()), Unit::Seconds, 1e-3, Direction::Less),
        value("rate", ValueSource::Json("all.0.rate".into()), Unit::PerSecond, 1.0, Direction::More),
        value("lost", csv("lost", Take::Max), Unit::Count, 0.01, Direction::Less),
        value("moved", csv("2", Take::Last), Unit::Bytes, 1_048_576.0, Direction::More),
    ];
    assert_eq!(send.values, expect);
}

#[test]
fn conditions_are_read_part_by_part() {
    let check = |keys: &str, expect: Condition| {
        let conditions = study(&format!("{WORKLOAD}[conditions.idle]\n[conditions.x]\n{keys}")).conditions;
        assert_eq!(conditions[1], Condition { name: "x".into(), ..expect }, "{keys}");
    };
    let plain = || Condition { processes: 1, ..Condition::default() };
    let load = |copies, of, pace_s, cpus| Condition { load: Some(LoadSpec { copies, of, pace_s, cpus }), ..plain() };
    check("", plain());
    check("copies = 4\n", load(4, LoadOf::Baseline, None, None));
    check("copies = 4\nof = \"self\"\npace = \"30/min\"\n", load(4, LoadOf::Itself, Some(2.0), None));
    let command = LoadOf::Command("dd if=/dev/zero".into());
    let keys = "copies = 1\nload_cpus = \"1\"\n[conditions.x.of]\ncommand = \"dd if=/dev/zero\"\n";
    check(keys, load(1, command, None, Some(vec![1])));
    check("processes = 2\n", Condition { processes: 2, ..plain() });
    check("cpus = [3, 0]\n", Condition { cpus: Some(vec![0, 3]), ..plain() });
    check("realtime = true\n", Condition { realtime: Some(1), ..plain() });
    check("realtime = false\naslr = true\n", Condition { aslr: Some(true), ..plain() });
    check("realtime = 99\naslr = false\n", Condition { realtime: Some(99), aslr: Some(false), ..plain() });
    let limits = Condition { memory_bytes: Some(512 << 20), cpu_limit: Some(0.5), drop_caches: true, ..plain() };
    check("memory = \"512 MiB\"\ncpu = 0.5\ndrop_caches = true\n", limits);
}

#[test]
fn a_locale_is_a_variable_of_its_condition() {
    let text = "format = 1\nname = \"t\"\n[run_factors.a]\nx = {}\ny = { MODE = \"y\" }\n[workloads.w]\nrun = \"w\"
[conditions.utf8]\nlocale = \"C.UTF-8\"\n[decide]\nbaseline = { a = \"x\" }\n";
    assert_eq!(parse(text).unwrap().conditions[0].environment["LC_ALL"], "C.UTF-8");
}

#[test]
fn plans_choose_cells_nuisances_and_void_rules_and_hand_them_down() {
    let plans = study(&format!(
        "{WORKLOAD}[workloads.find]\nrun = 'find'\n[conditions.idle]\n[conditions.busy]\ncopies = 2
[plan]\nvary = [\"env-size\"]\nvoid_if = {{ foreign_cpu = \">20%\", pressure_cpu = \">100 ms\", load = \">3\" }}
[plans.quick]\nworkloads = [\"find\"]\nconditions = [\"idle\"]\n[plans.lax]\nvoid_if = {{}}\nvary = []\n"
    ))
    .plans;
    let rule = |metric: &str, above| VoidRule { metric: metric.to_owned(), above };
    let rules = vec![rule("foreign_cpu", 0.2), rule("pressure_cpu", 0.1), rule("load", 3.0)];
    assert_eq!((&plans[0].void_if, &plans[0].vary), (&rules, &vec![Vary::EnvSize]));
    assert_eq!((&plans[0].workloads, &plans[0].conditions), (&None, &None));
    assert_eq!((&plans[1].void_if, &plans[1].vary), (&rules, &vec![Vary::EnvSize]));
    assert_eq!(plans[1].workloads, Some(vec!["find".to_owned()]));
    assert_eq!(plans[1].conditions, Some(vec!["idle".to_owned()]));
    assert_eq!((plans[2].void_if.len(), plans[2].vary.len()), (0, 0));
}

/// Each of these stands between head and tail of a study that is otherwise good, and is its only problem.
#[track_caller]
fn refuses(middle: &str, message: &str, remedy: &str) {
    let shown = messages(&format!("{HEAD}{middle}{DECIDE}"));
    assert!(shown.contains(message), "{message:?} is missing for {middle:?}\n{shown}");
    assert!(shown.contains(remedy), "{remedy:?} is missing for {middle:?}\n{shown}");
    assert!(shown.contains("1 problem in"), "{middle:?}\n{shown}");
}

/// Whatever is cut out of a study or doubled in it: it is read or refused, with each problem at a place of the file.
#[test]
fn a_mangled_study_is_read_or_refused_at_its_places() {
    const WHOLE: &str = include_str!("../../../tests/data/surrounded.toml");
    assert!(parse(WHOLE).is_ok(), "{}", messages(WHOLE));
    let (mut read, mut refused) = (0, 0);
    for case in 0..1000_u32 {
        let mut stream = Stream::of(178, &["mangled", &case.to_string()]);
        let mut pieces: Vec<&str> = match case % 2 {
            0 => WHOLE.split_inclusive('\n').collect(),
            _ => WHOLE.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).collect(),
        };
        for _ in 0..=stream.below(2) {
            let at = usize::try_from(stream.below(pieces.len() as u64)).unwrap();
            let other = usize::try_from(stream.below(pieces.len() as u64)).unwrap();
            match stream.below(3) {
                0 => _ = pieces.remove(at),
                1 => pieces.insert(other, pieces[at]),
                _ => pieces.swap(at, other),
            }
        }
        let text = pieces.concat();
        match parse(&text) {
            Ok(_) => read += 1,
            Err(list) => {
                assert!(list.iter().all(|p| text.get(p.span.clone()).is_some() && !p.message.is_empty()), "{list:?}");
                refused += 1;
            }
        }
    }
    assert!(read > 50 && refused > 500, "{read} were read, {refused} were refused");
}

#[test]
fn mistakes_in_run_factors_are_named() {
    let check = |level: &str, message: &str, remedy: &str| {
        let factor = format!("[run_factors.x]\na = {level}\n");
        let shown = messages(&format!("{HEAD}{factor}{WORKLOAD}{}", DECIDE.replace(" }", ", x = \"a\" }")));
        assert!(shown.contains(message) && shown.contains(remedy), "{level}\n{shown}");
        assert!(shown.contains("1 problem in"), "{level}\n{shown}");
    };
    check("{ PATH = \"/bin\" }", "the variable `PATH` is reserved", "PREFIX, PATH, HOME, TMPDIR");
    check("{ PORT_store = \"1\" }", "unknown key `PORT_store`", "write variables in UPPER CASE");
    check("{ PORT_STORE = \"1\" }", "the variable `PORT_STORE` is reserved", "choose another name");
    check("{ BAKEOFF_MARKS = \"3\" }", "the variable `BAKEOFF_MARKS` is reserved", "choose another name");
    check("{ CACHE = \"2\" }", "factor `cache` also sets the variable `CACHE`", "use a different variable");
    check("{ kernel = \"6.1\" }", "`kernel` is not allowed in a run factor", "move the factor to [build_factors]");
    check("{ source = \"b\" }", "`source` is not allowed in a run factor", "move the factor to [build_factors]");
    let shown = messages(&format!("{HEAD}{WORKLOAD}[decide]\nbaseline = {{ locale = \"c\" }}\n"));
    assert!(shown.contains("the baseline has no level for factor `cache`"), "{shown}");
}

#[test]
fn a_level_may_set_variables_of_one_service_only() {
    let text = |level: &str, more: &str| {
        let factor = format!("[run_factors.x]\na = {level}\n");
        format!("{HEAD}{factor}{WORKLOAD}{SERVICE}{more}{}", DECIDE.replace(" }", ", x = \"a\" }"))
    };
    let with = text("{ SIZE = \"1\", store = { SIZE = \"64\" } }", "");
    let study = parse(&with).unwrap_or_else(|_| panic!("{}", messages(&with)));
    let variables = [("SIZE", "1"), ("store.SIZE", "64")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(study.run_factors[2].levels[0].variables, variables.into());
    let check = |level: &str, more: &str, message: &str, remedy: &str| {
        let shown = messages(&text(level, more));
        assert!(shown.contains(message) && shown.contains(remedy), "{level}\n{shown}");
        assert!(shown.contains("1 problem in"), "{level}\n{shown}");
    };
    let own = "{ store = { SIZE = \"64\" } }";
    check(
        own,
        "per = \"block\"\n",
        "the service `store` starts once per block, so levels cannot change it",
        "`per = \"trial\"`",
    );
    let shown = messages(&text("{ stor = { SIZE = \"64\" } }", ""));
    assert!(
        shown.contains("as a key in a table `a`") && shown.contains("or name a service (did you mean `store`?)"),
        "{shown}"
    );
    check("{ store = \"64\" }", "", "the service `store` needs a table of variables", "{ SIZE = \"64\" }");
    check("{ store = { size = \"64\" } }", "", "unknown key `size`", "write variables in UPPER CASE");
    check("{ store = { SIZE = 64 } }", "", "`SIZE` must be a string in quotes", "");
    check("{ store = { HOME = \"/\" } }", "", "the variable `HOME` is reserved", "choose another name");
    let twice = "[run_factors.y]\nb = { store = { SIZE = \"1\" } }\n";
    let shown = messages(&text(own, twice));
    assert!(shown.contains("factor `x` also sets the variable `store.SIZE`"), "{shown}");
}

#[test]
fn mistakes_in_services_are_named() {
    let check = |keys: &str, message: &str, remedy: &str| {
        refuses(&format!("{WORKLOAD}{SERVICE}{keys}"), message, remedy);
    };
    check("per = \"study\"\n", "cannot start a service per `study`", "`block`");
    check("ready = {}\n", "must have one check, not 0", "{ tcp = \"$PORT_store\" }");
    check("ready = { within = \"1 s\" }\n", "must have one check, not 0", "that exits with 0");
    check("ready = { log = \"x\", command = \"y\" }\n", "must have one check, not 2", "that the service prints");
    check("ready = { tcp = \"localhost\" }\n", "must be a port", "1 to 65535");
    check("ready = { tcp = 70000 }\n", "must be a port", "1 to 65535");
    check("ready = { tcp = \"$PORT_stor\" }\n", "must be a port", "$PORT_store");
    check("ready = { command = \"ping $PORT_stor\" }\n", "is not the port of a service", "did you mean `$PORT_store`?");
    check("ready = { log = \"x\", within = \"soon\" }\n", "is not a valid duration", "such as \"90 s\"");
    check("ready = \"yes\"\n", "must be a table", "bakeoff help study-file");
    check("stop = { signal = \"STOP\" }\n", "unknown signal `STOP`", "");
    check("stop = { signal = \"TERN\" }\n", "unknown signal `TERN`", "did you mean `TERM`?");
    check("stop = { within = 5 }\n", "must be a string in quotes", "");
    check("files = [\"/etc/passwd\"]\n", "is outside the study's folder", "relative to that folder");
    check("port = 5\n", "has no key `port`", "available: ");
    let other = |service: &str, message: &str, remedy: &str| refuses(&format!("{WORKLOAD}{service}"), message, remedy);
    other("[services.x]\n", "[services.x] has no", "stays in the foreground");
    other("[services.a-b]\nrun = \"x\"\n", "`PORT_a-b` is not a valid variable", "use only letters, digits and `_`");
    other(
        "[services.x]\nrun = \"x $PORT_store\"\n",
        "`$PORT_store` is not the port of a service",
        "available: $PORT_x",
    );
    let block = "per = \"block\"\n";
    other(&format!("[services.x]\nrun = '$PREFIX/x'\n{block}"), "cannot use `$PREFIX`", "`per = \"trial\"`");
    other(&format!("[services.x]\nrun = 'x ${{CACHE:-0}}'\n{block}"), "cannot use `$CACHE`", "same for all trials");
    let asks = "run = 'x'\nready = { command = '$PREFIX/ask' }\n";
    other(&format!("[services.x]\n{asks}{block}"), "cannot use `$PREFIX`", "`per = \"trial\"`");
    let two = format!("{SERVICE}[services.x]\nrun = 'x $PORT_store $PORT_x'\n{block}");
    other(&two, "cannot use `$PORT_store`", "same for all trials");
}

#[test]
fn mistakes_in_workloads_are_named() {
    let check = |keys: &str, message: &str, remedy: &str| {
        refuses(&format!("{SERVICE}[workloads.w]\nrun = \"x\"\n{keys}{WORKLOAD}"), message, remedy);
    };
    check("phases = [\"a b\"]\n", "a phase's name is reserved or has invalid characters", "letters, digits");
    check("phases = [\"a\", \"a\"]\n", "names `a` twice", "remove one");
    check("ops = {}\n", "has no `unit`", "in the singular");
    check("ops = { unit = \"set\", count = 0 }\n", "invalid number of ops: 0", "or remove `count`");
    check("ops = { unit = \"set\", names = [\"a\", \"a\"] }\n", "names `a` twice", "remove one");
    check(
        "ops = { unit = \"set\", names = [\"12\"] }\n",
        "the name of an op cannot be a number",
        "the number is the latency",
    );
    check("ops = { unit = \"set\", name = \"a\" }\n", "has no key `name`", "did you mean `names`?");
    check("services = [\"stoer\"]\n", "there is no service `stoer`", "did you mean `store`?");
    check("services = [\"store\", \"store\"]\n", "names `store` twice", "remove one");
    check("timeout = \"0 s\"\n", "is not a valid duration", "such as \"90 s\"");
    check("oracle = \"\"\n", "is empty", "remove the key");
    check("oracle = \"ping $PORT_stor\"\n", "is not the port of a service", "did you mean `$PORT_store`?");
    check("services = []\noracle = \"ping $PORT_store\"\n", "that this workload does not use", "add \"store\"");
    check("output = \"nil\"\n", "`nil` is not a valid value for `output`", "`null` (the output is discarded)");
    check("output = \"noted\"\n", "`noted` is not a valid value for `output`", "`varies` (the output may differ)");
    check(
        "output = \"null\"\nexpect = \"x\"\n",
        "the output is discarded, but `expect` needs it",
        "remove either `output` or `expect`",
    );
    check(
        "output = \"varies\"\nexpect = \"x\"\n",
        "`expect` requires output that does not vary",
        "remove either `output` or `expect`",
    );
    let read = "[workloads.w.values]\nv = { unit = \"s\", json = \"a\" }\n";
    check(&format!("output = \"null\"\n{read}"), "the value `v` is read from the output", "with a mark");
    let value = |table: &str, message: &str, remedy: &str| {
        check(&format!("[workloads.w.values]\nv = {table}\n"), message, remedy);
    };
    value("{}", "[workloads.w.values.v] has no `unit`", "KiB");
    value("{ unit = \"stone\" }", "unknown unit `stone`", "KiB");
    value(
        "{ unit = \"s\", better = \"faster\" }",
        "`better` must be \"less\" or \"more\", not `faster`",
        "write `better = \"less\"`",
    );
    value("{ unit = \"s\", regex = '(' }", "is not a regular expression: unclosed group", "docs.rs/regex");
    value("{ unit = \"s\", regex = 'a', json = \"a\" }", "both `regex` and `json`", "keep one of them");
    value("{ unit = \"s\", json = \"a..b\" }", "a part of the JSON path `a..b` is empty", "latency.p99");
    value("{ unit = \"s\", csv = 0 }", "column numbers start at 1", "the column's name from the heading line");
    value("{ unit = \"s\", csv = [] }", "`csv` must name a column", "its number, counted from 1");
    value("{ unit = \"s\", csv = \"a\", take = \"man\" }", "is not a way to combine rows", "did you mean");
    value("{ unit = \"s\", take = \"sum\" }", "`take` applies only to `csv`", "remove it");
    check("[workloads.w.values]\nwall = { unit = \"s\" }\n", "`wall` is already a Bakeoff metric", "another name");
    let twice = "[workloads.w.values]\nv = { unit = \"s\" }\n[workloads.z]\nrun = \"z\"\n[workloads.z.values]\n";
    check(&format!("{twice}v = {{ unit = \"B\" }}\n"), "a different unit, direction or exactness", "or rename one");
    check(
        &format!("{twice}v = {{ unit = \"s\", better = \"more\" }}\n"),
        "a different unit, direction or exactness",
        "declare both values the same way",
    );
    let unused = format!("{SERVICE}[workloads.w]\nrun = \"w\"\nservices = []\n");
    refuses(&unused, "no workload uses the service `store`", "`services`");
    let same = "`store` is both a service and a phase of the workload `w`";
    check("phases = [\"load\", \"store\"]\n", same, "rename the service or the phase");
    // Also where the workload does not need it, but another does.
    check("services = []\nphases = [\"store\"]\n", same, "rename the service or the phase");
}

#[test]
fn metrics_are_of_bakeoff_or_of_what_the_workloads_declare() {
    let send = "[workloads.send]\nrun = \"send\"\nphases = [\"load\", \"scan\"]\nops = { unit = \"set\" }\n";
    let workloads = format!("{SERVICE}{send}[workloads.send.values]\nlost = {{ unit = \"1\" }}\n");
    let with = |metric: &str| format!("{HEAD}{workloads}{DECIDE}metrics = [\"{metric}\", \"wall\"]\n");
    for metric in ["scan.wall", "op.p99", "scan.op.p99.9", "lost", "throughput", "peak", "store.cpu"] {
        let study = parse(&with(metric)).unwrap_or_else(|_| panic!("{}", messages(&with(metric))));
        assert_eq!(study.decide.metrics, [metric, "wall"]);
    }
    // What nobody chose is shown of the services too.
    let study = parse(&format!("{HEAD}{workloads}{DECIDE}")).unwrap();
    assert_eq!(study.decide.metrics, ["wall", "cpu", "maxrss", "store.cpu", "store.maxrss"]);
    for (metric, message, remedy) in [
        ("scn.wall", "no workload has a phase `scn`", "did you mean `scan`?"),
        ("scan.op.p95", "`scan.op.p95` does not end with an op statistic", "p99.9"),
        ("lots", "there is no metric `lots`", "did you mean `lost`?"),
        ("op.quote.p99", "no workload has ops named `quote`", "names = ["),
        ("wall", "the metric `wall` is listed twice", "remove one"),
    ] {
        let shown = messages(&with(metric));
        assert!(shown.contains(message) && shown.contains(remedy), "{metric}\n{shown}");
    }
}

#[test]
fn mistakes_in_conditions_are_named() {
    let check = |keys: &str, message: &str, remedy: &str| {
        refuses(&format!("{WORKLOAD}[conditions.x]\n{keys}"), message, remedy);
    };
    check("copies = 0\n", "invalid number of copies: 0", "from 1 to 256");
    check("copies = \"4\"\n", "must be a whole number", "without quotes");
    check("of = \"self\"\n", "has `of` but no `copies`", "add `copies = 1`");
    check("pace = \"1/s\"\n", "has `pace` but no `copies`", "add `copies = 1`");
    check("load_cpus = \"1\"\n", "has `load_cpus` but no `copies`", "add `copies = 1`");
    check("copies = 1\nof = \"basline\"\n", "cannot run copies of \"basline\"", "did you mean `baseline`?");
    check("copies = 1\nof = \"stress -c 1\"\n", "cannot run copies of", "of = { command = \"…\" }");
    check("copies = 1\nof = 4\n", "`of` must be a string, or a table with `command`", "of = { command = \"…\" }");
    check("copies = 1\nof = {}\n", "`of` has no `command`", "add the command to run as load");
    check("copies = 1\nof = { command = \"x $PORT_y\" }\n", "is not the port of a service", "add `[services.y]`");
    check("copies = 1\npace = \"0.1 s\"\n", "is not a valid rate", "such as \"10/s\"");
    check("processes = -1\n", "invalid number of processes: -1", "from 1 to 256");
    check("cpus = []\n", "`cpus` of [conditions.x] is not a list of processors", "cpus = \"0-1,3\"");
    check("cpus = [\"a\"]\n", "is not a list of processors", "cpus = [0, 1, 3]");
    check("cpus = \"3-1\"\n", "is not a list of processors", "cpus = \"0-1,3\"");
    check("realtime = 100\n", "`realtime` must be a valid priority", "from 1 to 99");
    check("realtime = \"fifo\"\n", "`realtime` must be a valid priority", "`true`");
    check("aslr = \"off\"\n", "`aslr` of [conditions.x] must be true or false", "without quotes");
    check("drop_caches = 1\n", "must be true or false", "`drop_caches = true`");
    check("locale = \"C\"\n", "run factor `locale` also sets `LC_ALL`", "either in a factor");
    check("memory = \"512\"\n", "is not a valid size", "such as \"512 MiB\"");
    check("memory = 512\n", "must be a string in quotes", "");
    check("cpu = 0\n", "cannot limit trials to 0 processors", "half of one processor");
    check("priority = 5\n", "has no key `priority`", "available: ");
}

#[test]
fn mistakes_in_plans_are_named() {
    let check = |keys: &str, message: &str, remedy: &str| {
        refuses(&format!("{WORKLOAD}[plan]\n{keys}"), message, remedy);
    };
    check("vary = [\"env_size\"]\n", "cannot vary `env_size`", "did you mean `env-size`?");
    check("vary = [\"env-size\", \"env-size\"]\n", "is listed twice", "remove one");
    check("vary = \"env-size\"\n", "must be a list of strings", "");
    let factors: String = (0..41).map(|n| format!("[run_factors.f{n}]\na = {{}}\nb = {{ B{n} = \"1\" }}\n")).collect();
    let count = format!("has {} variants, but at most 1000 are allowed", 1_u64 << 43);
    for plan in ["", "[plan]\nvariants = \"all\"\n"] {
        let shown = messages(&format!("{HEAD}{WORKLOAD}{plan}{factors}{DECIDE}"));
        assert!(shown.contains(&count) && shown.contains("one-at-a-time"), "{shown}");
    }
    check("conditions = []\n", "`conditions` needs at least one condition", "use all of them");
    check("conditions = [\"busy\"]\n", "there is no condition `busy`", "available: idle");
    check("workloads = [\"srot\"]\n", "there is no workload `srot`", "did you mean `sort`?");
    check("workloads = [\"sort\", \"sort\"]\n", "names `sort` twice", "remove one");
    let void = |rule: &str, message: &str, remedy: &str| check(&format!("void_if = {{ {rule} }}\n"), message, remedy);
    void("\"scan.wall\" = \">1 s\"", "no workload has a phase `scan`", "phases = [");
    void("stael = \">1%\"", "there is no metric `stael`", "did you mean `steal`?");
    void("steal = \"1%\"", "not valid for `steal`, because this metric is a share", "`steal = \">20%\"`");
    void("steal = \">100%\"", "a share below 100 %", "`steal = \">20%\"`");
    void("steal = 0.01", "not valid for `steal`", "`steal = \">20%\"`");
    void("pressure_cpu = \">20%\"", "because this metric is a time", "`pressure_cpu = \">0.1 s\"`");
    void("majflt = \">1%\"", "because this metric is a number", "`majflt = \">100\"`");
    void("read_bytes = \">5\"", "because this metric is a size", "`read_bytes = \">512 MiB\"`");
    void("load_rate = \">5 s\"", "because this metric is a rate", "`load_rate = \">10/s\"`");
    void("wall = \">2 s\"", "because the study judges variants by this metric", "foreign_cpu");
    check("void_if = \"steal\"\n", "`void_if` of [plan] must be a table", "bakeoff help study-file");
}
