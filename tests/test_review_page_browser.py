"""The review page in a real browser: a review done by keyboard, texts that attack it, a phone, a thousand units."""

import json

import pytest
from browser import skip_without_browser, visit
from click.testing import CliRunner
from misbehaving import Server, answer
from review_cases import a_result, a_run

from judgekit.cli import cli
from judgekit.records import Label
from judgekit.review import labels_of
from judgekit.review.page import read, write
from judgekit.review.records import JudgeSaid, Passage, ReviewUnit
from judgekit.rundir import Run

skip_without_browser()

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def a_unit(number, **changes):
    unit = ReviewUnit(
        export_id="x1",
        unit_id=f"u{number}",
        kind="verdict",
        question=f"Question {number}?",
        text=f"Before it. Claim {number} stands here [2]. After it.",
        side="answer",
        claim=f"Claim {number} stands here.",
        span=(11, 11 + len(f"Claim {number} stands here [2].")),
        markers=("[2]",),
        passages=(
            Passage(context_id="d2", text=f"What claim {number} says.", title="Cited", rank=2, is_cited=True),
            Passage(context_id="d1", text="Something else.", doc_id="d", version="2026-03", rank=1),
            Passage(context_id="d3", text="A third text.", rank=3),
        ),
    )
    return unit.having(**changes)


A_SAMPLE = a_unit(5, kind="sample", claim=None, span=None, markers=(), claims=("First.", "Second."))


@pytest.fixture
def page_with(tmp_path):
    def made(*units):
        path = tmp_path / "review.html"
        write(units, path)
        return path

    return made


# --- the review --------------------------------------------------------------------------------


def test_a_whole_review_by_keyboard_with_a_reload_in_the_middle(chromium, page_with, tmp_path):
    path = page_with(*map(a_unit, range(1, 5)), A_SAMPLE)
    with visit(chromium, path) as there:
        there.begin("Ada Lovelace")
        assert there.text("#claim") == "Claim 1 stands here."
        there.press("a", "e", "1")  # not atomic, the first passage decides, supported
        assert there.text("#claim") == "Claim 2 stands here."
        there.press("n")
        there.page.keyboard.type('1 "quoted" note: =1+1\nd and u')  # commands are text here
        there.press("Escape", "2")
        assert there.text("#claim") == "Claim 3 stands here."
        there.press("d")
        assert there.text("#counts") == "2 done · 1 deferred · 2 left"

        there.page.reload()
        assert there.text("#place") == "4 / 5"  # no name asked again, and the place kept
        assert there.text("#counts") == "2 done · 1 deferred · 2 left"
        there.press("ArrowLeft", "ArrowLeft")
        assert there.page.locator("#note").input_value() == '1 "quoted" note: =1+1\nd and u'
        assert there.pressed() == ["Not supported"]
        there.press("ArrowLeft")
        assert there.pressed() == ["More than one statement", "This passage decides", "Supported"]

        there.press("g", "g")  # the next open one, from there the next
        assert there.text("#place") == "5 / 5"
        there.press("m")
        there.page.keyboard.type("2")
        there.press("Escape", "3")
        assert there.text("#place") == "4 / 5"  # what is left comes before what was deferred
        there.press("1")
        assert there.text("#place") == "3 / 5"
        there.press("3", "3", "u", "u", "2")
        assert there.text("#counts") == "5 done · 0 deferred · 0 left"
        back = there.download(tmp_path)

    assert back.name == "x1.Ada-Lovelace.jsonl"
    filled = read(back)
    assert all(one.minutes is not None and 0 <= one.minutes < 1 for one in filled)
    said = [(one.unit_id, one.status, one.verdict, one.claim_ok, one.evidence, one.missed, one.note) for one in filled]
    assert said == [
        ("u1", "done", "supported", "not_atomic", "d2", None, None),
        ("u2", "done", "not_supported", None, None, None, '1 "quoted" note: =1+1\nd and u'),
        ("u3", "done", "not_supported", None, None, None, None),
        ("u4", "done", "supported", None, None, None, None),
        ("u5", "done", "cannot_tell", None, None, 2, None),
    ]
    assert {(one.export_id, one.reviewer) for one in filled} == {("x1", "Ada Lovelace")}
    lines = back.read_text(encoding="utf-8").splitlines()
    texts = ("Question", "Claim", "stands", "passage")
    assert not [line for line in lines if any(text in line for text in texts)]
    assert [json.loads(line)["blind"] for line in lines] == [True] * 5


def test_a_download_can_be_gone_on_with_elsewhere(chromium, page_with, tmp_path):
    path = page_with(*map(a_unit, range(1, 5)))
    with visit(chromium, path) as there:
        there.begin()
        there.press("1", "d", "e", "n")
        there.page.keyboard.type("unsure")
        first = there.download(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with visit(chromium, path) as there:
        there.begin()
        there.press("2")
        there.page.locator("#file").set_input_files(first)
        there.page.get_by_text("3 units taken").wait_for()
        assert there.text("#counts") == "1 done · 1 deferred · 2 left"
        second = there.download(tmp_path / "elsewhere")
        there.press("u")  # all that was loaded, in one step
        assert there.text("#counts") == "1 done · 0 deferred · 3 left"
        there.press("ArrowLeft")
        assert there.pressed() == ["Not supported"]
    apart = [one.model_dump(exclude={"where", "minutes"}) for one in read(first)]
    assert apart == [one.model_dump(exclude={"where", "minutes"}) for one in read(second)]
    assert [(one.unit_id, one.status, one.note) for one in read(second)] == [
        ("u1", "done", None),
        ("u2", "deferred", None),
        ("u3", "deferred", "unsure"),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"export_id": "x2"}, "line 1: belongs to another export than this page (x1)"),
        ({"unit_id": "u9"}, "line 1: no unit u9 in this page"),
        ({"verdict": "toString"}, "line 1: no verdict toString"),
        ({"reviewer": "Bob"}, "it is by Bob; this page is Ada's"),
    ],
)
def test_a_foreign_file_changes_nothing(chromium, page_with, tmp_path, change, message):
    line = {"unit_id": "u1", "export_id": "x1", "reviewer": "Ada", "status": "done", "verdict": "supported"}
    (tmp_path / "foreign.jsonl").write_text(json.dumps({**line, **change}), encoding="utf-8")
    with visit(chromium, page_with(a_unit(1))) as there:
        there.begin()
        there.page.locator("#file").set_input_files(tmp_path / "foreign.jsonl")
        there.page.get_by_text("was not loaded").wait_for()
        assert there.text("#toast") == f"foreign.jsonl was not loaded: {message}."
        assert there.text("#counts") == "0 done · 0 deferred · 1 left"


def test_two_reviewers_of_one_browser_do_not_see_each_other(chromium, page_with):
    with visit(chromium, page_with(a_unit(1), a_unit(2))) as there:
        there.agrees = False
        there.begin("Ada")
        there.press("1", "?")
        there.begin("Grace")
        assert there.text("#counts") == "0 done · 0 deferred · 2 left"
        assert [wrong[:36] for wrong in there.wrongs] == ["dialog Is Grace the new name of Ada?"]
        there.wrongs.clear()
        there.press("2", "?")
        there.begin("Ada")  # known already, so nothing is asked
        there.press("ArrowLeft")
        assert there.pressed() == ["Supported"]


def test_a_reviewer_who_mistyped_the_name_takes_the_work_along(chromium, page_with, tmp_path):
    with visit(chromium, page_with(a_unit(1), a_unit(2))) as there:
        there.begin("Adda")
        there.press("1", "?")
        there.begin("Ada")
        assert there.text("#place") == "2 / 2"
        (filled,) = read(there.download(tmp_path))
        assert (filled.reviewer, filled.verdict) == ("Ada", "supported")
        there.wrongs.clear()


def test_the_filter_walks_through_its_units_alone(chromium, page_with):
    with visit(chromium, page_with(*map(a_unit, range(1, 7)))) as there:
        there.begin()
        there.press("1", "d", "1", "d")
        there.page.get_by_role("combobox", name="Units to walk through").select_option("deferred")
        places = [there.text("#place")]
        there.press("Escape", "ArrowLeft")
        places.append(there.text("#place"))
        there.press("ArrowLeft")
        assert [*places, there.text("#place")] == ["4 / 6", "2 / 6", "2 / 6"]
        there.press("1")
        assert there.text("#place") == "4 / 6"  # of those that were chosen, though others are left


BROKEN_STORAGES = {
    "forbidden": "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no') }})",
    "full": "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }",
}


@pytest.mark.parametrize("broken", BROKEN_STORAGES.values(), ids=BROKEN_STORAGES)
def test_without_storage_the_page_says_so_warns_who_leaves_and_still_hands_back(chromium, page_with, tmp_path, broken):
    with visit(chromium, page_with(a_unit(1)), first=broken) as there:
        there.begin()
        assert "keeps nothing for this page" in there.page.get_by_role("alert").inner_text()
        there.press("1")
        (filled,) = read(there.download(tmp_path))
        assert filled.verdict == "supported"
        there.page.reload()
        assert there.wrongs == []  # all of it is downloaded
        there.begin()
        there.press("2")
        there.page.reload()
        assert there.wrongs == ["dialog beforeunload"]
        there.wrongs.clear()


def test_two_tabs_of_one_review_follow_each_other(chromium, page_with):
    with visit(chromium, page_with(a_unit(1), a_unit(2))) as there:
        there.begin()
        other = there.page.context.new_page()
        other.goto(there.file)
        there.page.bring_to_front()
        there.press("1")
        other.locator("#counts", has_text="1 done").wait_for()


def test_time_counts_while_somebody_reads(chromium, page_with, tmp_path):
    with visit(chromium, page_with(*map(a_unit, range(1, 4))), frozen=True) as there:
        there.begin()
        there.page.clock.run_for(30_000)
        there.press("1")
        there.page.clock.run_for(3_600_000)
        there.press("2", "3")
        minutes = [one.minutes for one in read(there.download(tmp_path))]
        assert minutes == [0.5, 2.0, 0.0]  # two minutes at most without a sign of life


def test_from_the_command_that_draws_to_the_command_that_imports(chromium, tmp_path):
    def judgekit(*arguments):
        return CliRunner().invoke(cli, ["spotcheck", *map(str, arguments)], standalone_mode=False)

    run = a_run(tmp_path / "run", a_result("q1"), a_result("q2", label=Label.UNSUPPORTED))
    page = tmp_path / "review.html"
    assert "10 of 10 units drawn" in judgekit("draw", run.folder, "-o", page).output
    with visit(chromium, page) as there:
        there.begin("Ada")
        there.press("1", "2", "3", "d", "n")
        there.page.keyboard.type("=HYPERLINK()")
        there.press("Escape", "i", "2")
        back = there.download(tmp_path)
    done = judgekit("import", run.folder, back)
    assert done.output == "labels by Ada: 5 new, 0 changed, 0 as before\n  1 put off, 0 blank\n"
    labels = labels_of(Run(run.folder))
    assert [label.verdict for label in labels] == ["supported", "not_supported", "cannot_tell", "not_supported"]
    assert [(label.note, label.claim_ok) for label in labels[3:]] == [("=HYPERLINK()", "not_in_answer")]
    assert {(label.reviewer, label.assisted) for label in labels} == {("Ada", False)}
    assert "press Download" in str(judgekit("import", run.folder, page).exception)


# --- what is shown -----------------------------------------------------------------------------


def test_the_claim_is_marked_in_view_and_the_cited_passage_stands_open(chromium, page_with):
    before = "Much is said before. " * 400
    long = a_unit(1, text=f"{before}The claim. After.", span=(len(before), len(before) + 10))
    with visit(chromium, page_with(long)) as there:
        there.begin()
        mark = there.page.locator("mark.claimed")
        assert mark.text_content() == "The claim."
        inside, box = mark.bounding_box(), there.page.locator("#answer").bounding_box()
        assert box["y"] <= inside["y"] <= inside["y"] + inside["height"] <= min(box["y"] + box["height"], 720)
        folds = there.page.locator(".fold").all()
        assert [fold.get_attribute("aria-expanded") for fold in folds] == ["true", "false", "false"]
        assert there.page.locator("mark.word").all_text_contents() == ["claim", "1"]
        assert there.page.locator(".facts").all_text_contents() == [
            "rank 2 · d2",
            "rank 1 · document d · version 2026-03",
            "rank 3",
        ]
        there.press("x")
        assert [fold.get_attribute("aria-expanded") for fold in folds] == ["true"] * 3


def test_only_an_assisted_page_shows_what_the_judge_said(chromium, page_with, tmp_path):
    said = JudgeSaid(
        label=Label.UNSUPPORTED, reason="<b>None</b> of it.", quotes=(("d2", "claim 1 says"), ("d1", "<i>Made up.</i>"))
    )
    with visit(chromium, page_with(a_unit(1, judge=said))) as there:
        there.begin()
        assert there.text("#mode") == "Assisted"
        assert there.page.locator("#judge > *").all_text_contents() == [
            "The judge said unsupported: <b>None</b> of it.",
            *("claim 1 says", "from d2"),
            *("<i>Made up.</i>", "not found in d1"),
        ]
        assert "".join(there.page.locator("mark.quote").all_text_contents()) == "claim 1 says"
        there.press("1")
        assert json.loads(there.download(tmp_path).read_text(encoding="utf-8"))["blind"] is False
    (tmp_path / "review.html").unlink()
    with visit(chromium, page_with(a_unit(1))) as there:
        there.begin()
        assert there.text("#mode") == "Blind"
        assert not there.page.locator("#judge").is_visible()
        assert there.page.locator("mark.quote").count() == 0


def test_a_whole_answer_is_shown_with_its_claims_and_its_own_question(chromium, page_with):
    with visit(chromium, page_with(A_SAMPLE)) as there:
        there.begin()
        assert there.text("#task") == "Do the passages support everything that the answer says?"
        assert there.page.locator("#claims li").all_text_contents() == ["First.", "Second."]
        assert not there.page.locator("#claim-ok").is_visible()
        assert there.page.locator("mark").count() == 0


def test_a_claim_of_the_reference_asks_of_what_it_is_held_against(chromium, page_with):
    answer_only = (Passage(context_id="@answer", text="The answer."),)
    unit = a_unit(1, side="reference", text="A reference.", span=(0, 12), markers=(), passages=answer_only)
    with visit(chromium, page_with(unit)) as there:
        there.begin()
        assert there.text("#task") == "Does the answer support this claim?"
        assert there.text("#evidence-head") == "Held against"
        assert there.text(".passage .name") == "The answer"
        assert there.text("#origin") == "The reference it is taken from"
        assert there.page.get_by_role("button", name="Not in the reference").is_visible()
        assert not there.page.locator("#cites").is_visible()


def test_right_to_left_text_runs_right_to_left(chromium, page_with):
    arabic = "يبلغ ارتفاع البرج 12 متراً."
    with visit(chromium, page_with(a_unit(1, text=arabic, claim=arabic, span=(0, len(arabic))))) as there:
        there.begin()
        direction = "node => getComputedStyle(node).direction"
        assert [there.page.locator(at).evaluate(direction) for at in ("#claim", "#answer", "#question")] == [
            "rtl",
            "rtl",
            "ltr",
        ]


# --- texts that attack the page ----------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    '<img src=x onerror="alert(3)"><svg onload=alert(4)>',
    "[click](javascript:alert(5)) javascript:alert(6)",
    "{{ 7*7 }} {% raw %} ${7*7} #{7*7}",
    '"><iframe srcdoc="<script>alert(7)</script>"></iframe>',
    "&lt;b&gt; &amp; &#x3c;",
    "<style>*{display:none}</style><base href='//evil.test'><form action='//evil.test'>",
    "\u2028\u2029 __proto__ constructor",
]


@pytest.mark.parametrize("kind", ["verdict", "sample"])
def test_hostile_text_shows_literally_and_does_nothing(chromium, page_with, kind):
    def hostile(number, text):
        passages = (Passage(context_id=text, text=text, title=text, doc_id=text, version=text, rank=1, is_cited=True),)
        said = JudgeSaid(label=Label.SUPPORTED, reason=text, quotes=((text, text),))
        fields = {"question": text, "text": text, "passages": passages, "judge": said}
        if kind == "sample":
            return a_unit(number, kind=kind, claim=None, span=None, markers=(), claims=(text,), **fields)
        return a_unit(number, claim=text, span=(0, len(text)), markers=(text,), **fields)

    with visit(chromium, page_with(*(hostile(number, text) for number, text in enumerate(HOSTILE)))) as there:
        there.begin("<img src=x onerror=alert(8)>")
        assert there.text("#who-name") == "<img src=x onerror=alert(8)>"
        for text in HOSTILE:
            shown = ["#claims li"] if kind == "sample" else ["#claim", "#cites bdi"]
            for at in (
                "#question",
                "#answer",
                "#judge p:first-child bdi",
                "#judge blockquote",
                ".passage .name",
                ".passage .text",
                *shown,
            ):
                assert there.text(at) == text
            there.press("e", "ArrowRight")
        tags = "nodes => [...new Set(nodes.map(node => node.tagName))]"
        inside = set(there.page.locator("main *").evaluate_all(tags))
        assert inside.isdisjoint({"SCRIPT", "IMG", "SVG", "IFRAME", "A", "STYLE", "BASE", "FORM", "B"} - {"B"})
        assert there.page.locator("script").count() == 2
        assert there.page.locator("style").count() == 1


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString"])
def test_an_id_that_javascript_knows_is_an_id_like_any_other(chromium, page_with, tmp_path, name):
    passages = (Passage(context_id=name, text="A text.", rank=1), Passage(context_id="d2", text="Another.", rank=2))
    said = JudgeSaid(label=Label.SUPPORTED, quotes=((name, "A text."),))
    with visit(chromium, page_with(a_unit(1, passages=passages, judge=said))) as there:
        there.begin()
        assert there.page.locator(".name").all_text_contents() == [name, "d2"]
        assert there.text("#evidence-head") == "2 passages, none cited"
        there.press("e", "1")
        (filled,) = read(there.download(tmp_path))
        assert filled.evidence == name


def test_signs_that_hide_or_turn_the_line_around_are_shown_by_their_number(chromium, page_with):
    text = "safe\u202egnp.exe \x00\x00\x00 zero\u200bwidth \x1b[31m"
    with visit(chromium, page_with(a_unit(1, text=text, span=None))) as there:
        there.begin()
        assert there.text("#answer") == "safeU+202Egnp.exe U+0000 \u00d73 zeroU+200Bwidth U+001B[31m"


def test_a_word_without_end_stays_in_its_box(chromium, page_with):
    endless = "W" * 100_000
    unit = a_unit(1, question=endless, text=endless, claim=endless, span=(0, 100_000), markers=(endless[:500],))
    passages = (Passage(context_id=endless[:500], text=endless, title=endless[:900], rank=1, is_cited=True),)
    with visit(chromium, page_with(unit.having(passages=passages)), **PHONE) as there:
        there.begin(endless[:80])
        assert there.page.evaluate("document.documentElement.scrollWidth") == 390
        assert there.page.get_by_role("button", name="Supported", exact=True).is_visible()


def test_the_policy_stops_what_an_attacker_would_try(chromium, page_with):
    with Server(answer({})) as server, visit(chromium, page_with(a_unit(1))) as there:
        there.begin()
        with there.page.expect_console_message(lambda line: "Framing" in line.text):
            there.page.evaluate(
                """async (url) => {
                  const tries = [
                    () => { document.body.innerHTML = "<img src=x onerror=alert(1)>"; },
                    () => {
                      const script = document.createElement("script");
                      script.append("alert(2)");
                      document.body.append(script);
                    },
                    () => fetch(url),
                    () => new Promise((done, failed) => {
                      const image = new Image();
                      [image.onload, image.onerror] = [done, failed];
                      image.src = url;
                    }),
                    () => {
                      const frame = document.createElement("iframe");
                      frame.src = url;
                      document.body.append(frame);
                    },
                  ];
                  for (const act of tries) try { await act(); } catch {}
                }""",
                server.url,
            )
        refused = "\n".join(there.wrongs)
        for what in ("'TrustedHTML'", "'TrustedScript'", "Connecting to", "Loading the image", "Framing"):
            assert what in refused
        assert not [wrong for wrong in there.wrongs if wrong.startswith("dialog")]
        assert server.requests == []
        there.wrongs.clear()


# --- every reader ------------------------------------------------------------------------------


def test_on_a_phone_the_verdicts_lie_under_the_thumb_and_nothing_scrolls_sideways(chromium, page_with):
    long = "A passage that goes on and on. " * 200
    passages = (Passage(context_id="d1", text=long, rank=1, is_cited=True),)
    with visit(chromium, page_with(a_unit(1, passages=passages), a_unit(2)), **PHONE) as there:
        there.begin()
        for name in ("Supported", "Not supported", "Cannot tell", "Previous unit", "Next unit", "Defer", "Undo"):
            box = there.page.get_by_role("button", name=name, exact=True).bounding_box()
            assert min(box["width"], box["height"]) >= 44, name
            assert 844 * 2 / 3 < box["y"] <= box["y"] + box["height"] <= 844, name
        assert there.page.evaluate("document.documentElement.scrollWidth") == 390
        there.page.get_by_role("button", name="Menu").click()
        assert there.page.get_by_role("button", name="Load a downloaded file").is_visible()
        there.page.get_by_role("button", name="Not supported", exact=True).tap()
        assert there.text("#place") == "2 / 2"


def test_the_keys_of_the_guide_are_the_keys_there_are_and_can_be_switched_off(chromium, page_with):
    with visit(chromium, page_with(a_unit(1), a_unit(2))) as there:
        keys = there.page.locator("#keys kbd").all_text_contents()
        assert keys == [*"123", "→", "←", *"gdune", "Shift e", *"xoiapms?"]
        there.begin()
        there.page.get_by_role("button", name="Menu").click()
        there.page.get_by_role("checkbox", name="Single keys are commands").uncheck()
        there.press("Escape", "1")
        assert there.text("#counts") == "0 done · 0 deferred · 2 left"
        there.page.get_by_role("button", name="Supported", exact=True).press("Enter")
        assert there.text("#counts") == "1 done · 0 deferred · 1 left"


@pytest.mark.parametrize(("key", "code"), [("&", "Digit1"), ("1", "Numpad1"), ("\uff11", "Digit1")])
def test_digits_are_verdicts_on_any_keyboard(chromium, page_with, key, code):
    with visit(chromium, page_with(a_unit(1), a_unit(2))) as there:
        there.begin()
        there.page.locator("body").dispatch_event("keydown", {"key": key, "code": code})
        assert there.text("#counts") == "1 done · 0 deferred · 1 left"


def test_letters_are_commands_where_letters_are_not_latin(chromium, page_with):
    with visit(chromium, page_with(a_unit(1), a_unit(2))) as there:
        there.begin()
        there.page.locator("body").dispatch_event("keydown", {"key": "в", "code": "KeyD"})
        assert there.text("#counts") == "0 done · 1 deferred · 1 left"
        there.page.locator("body").dispatch_event("keydown", {"key": "b", "code": "KeyN"})  # Dvorak: b is no command
        assert there.text("#place") == "2 / 2"
        there.press("1")
        assert there.text("#counts") == "1 done · 1 deferred · 0 left"


def test_a_click_leaves_no_button_under_the_space_bar(chromium, page_with):
    with visit(chromium, page_with(*map(a_unit, range(1, 4)))) as there:
        there.begin()
        there.page.get_by_role("button", name="Supported", exact=True).click()
        there.press("Space", "Enter")
        assert there.text("#counts") == "1 done · 0 deferred · 2 left"


def test_what_happens_is_said_aloud_and_everything_has_a_name(chromium, page_with):
    with visit(chromium, page_with(a_unit(1), a_unit(2))) as there:
        there.begin()
        there.press("ArrowRight")
        assert there.page.get_by_role("status").text_content() == "Unit 2: Claim 2 stands here."
        there.press("1")
        assert there.page.get_by_role("status").text_content() == "Supported. 1 of 2 done. Unit 1: Claim 1 stands here."
        there.press("ArrowLeft", "2")
        assert there.page.get_by_role("status").text_content().startswith("All units have a verdict. Download")
        tree = there.page.locator("body").aria_snapshot()
        assert not [
            line for line in tree.splitlines() if line.strip(" -:") in {"button", "textbox", "combobox", "region"}
        ]


@pytest.mark.parametrize(("system", "ground"), [("light", "rgb(245, 243, 238)"), ("dark", "rgb(20, 22, 26)")])
def test_colours_follow_the_system_until_they_are_chosen(chromium, page_with, system, ground):
    colour = "getComputedStyle(document.body).backgroundColor"
    with visit(chromium, page_with(a_unit(1)), color_scheme=system) as there:
        there.begin()
        assert there.page.evaluate(colour) == ground
        there.page.get_by_role("button", name="Menu").click()
        there.page.locator("#theme").click()
        chosen = there.page.evaluate(colour)
        assert chosen != ground
        there.page.reload()
        assert there.page.evaluate(colour) == chosen


def test_a_thousand_units_lay_out_only_the_present_one(chromium, page_with):
    with visit(chromium, page_with(*map(a_unit, range(1, 1001)))) as there:
        there.begin()
        there.press(*["1"] * 12, "ArrowLeft")
        assert there.text("#counts") == "12 done · 0 deferred · 988 left"
        assert there.text("#place") == "12 / 1000"
        assert there.page.locator(".passage").count() == 3
        assert there.page.locator("body *").count() < 250
