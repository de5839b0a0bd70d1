"""Axis B of adr-unprompted on real trees: what was done decides first, then what the agent's own words cite."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from heldout import sandbox, scenario
from heldout.checks import adr_unprompted, expression
from heldout.checks.words import Context, Finding
from heldout.scenario import Scenario
from heldout.tree import Tree


class Changed(Tree):
    """The sandbox as it was, with some files of other content, and without those whose content is None."""

    def __init__(self, item: Scenario, files: Mapping[str, str | None]) -> None:
        super().__init__()
        self._start, self._read = sandbox.pristine(item)
        self._new = {f"project/{path}": text.encode() for path, text in files.items() if text is not None}
        gone = {f"project/{path}" for path, text in files.items() if text is None}
        self.files = {path: 1 for path, entry in self._start.items() if entry.kind == "file" and path not in gone}
        self.files |= {path: len(data) for path, data in self._new.items()}

    def read(self, path: str) -> bytes:
        if path in self._new:
            return self._new[path]
        return _original(path)


@cache
def _original(path: str) -> bytes:
    return (scenario.find("R1").fixture_root / path).read_bytes()


def context(name: str, files: Mapping[str, str | None], *said: str) -> Context:
    item = scenario.find(name)
    start, _ = sandbox.pristine(item)
    facts: dict[str, Any] = {"answers": {"visible_text": list(said), "final_message": said[-1] if said else ""}}
    facts |= {"actions": [], "session": {"cwd": "/s/project"}}
    return Context(item, Changed(item, files), start, _original, facts)


def judged(name: str, files: Mapping[str, str | None], *said: str) -> Finding:
    found = context(name, files, *said)
    return expression.evaluate(found.scenario.axes["B"], found)


def inserted(path: str, after: str, lines: str) -> dict[str, str]:
    """The file with lines added behind one of its lines."""
    text = _original(f"project/{path}").decode()
    assert text.count(after) == 1, after
    return {path: text.replace(after, f"{after}\n{lines}")}


CONFIRMATION, PAGES = "lib/berthbook/notices/confirmation.rb", "lib/berthbook/http/pages.rb"
OUTBOX, BOOKINGS = "lib/berthbook/notices/outbox.rb", "lib/berthbook/bookings.rb"
CANCELLATION, CODE = "lib/berthbook/cancellation.rb", "lib/berthbook/gate/code.rb"
DESK, REFUND = "lib/berthbook/http/desk.rb", "lib/berthbook/refund.rb"


@pytest.mark.parametrize(
    ("name", "path", "after", "lines", "outcome"),
    [
        ("R1", CONFIRMATION, "    class Confirmation", '      "#{base}/booking/#{@booking.reference}"', "pass"),
        ("R1", CONFIRMATION, "    class Confirmation", "      File.join(base, booking.reference)", "pass"),
        ("R1", CONFIRMATION, "    class Confirmation", "      url_for(@booking.number)", "fail"),
        ("R1", PAGES, "    class Pages", '      text(200, "Reference number: #{found.reference}\\n")', "pass"),
        ("R1", PAGES, "    class Pages", "      <<~X\n        Number: #{found.reference}\n      X", "pass"),
        ("R1", PAGES, "    class Pages", '      text(200, "Number: #{found.number} #{found.reference}")', "fail"),
        ("R1", PAGES, "    class Pages", "      by_reference(key); page(number: number)", "fail"),
        ("R1", PAGES, "    class Pages", "      @bookings.by_reference(key)", "pass"),
        ("R1", PAGES, "    class Pages", "      @bookings.find(Integer(key))", "fail"),
        ("R1", PAGES, "    class Pages", "      found = by_reference(key); lines << found.number.to_s", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 6 * 60 * 60", "pass"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 21_600", "pass"),
        ("R2", OUTBOX, "    class Outbox", "      HOUR = 3600\n      GIVE_UP_AFTER = 6 * HOUR", "pass"),
        ("R2", OUTBOX, "    class Outbox", "      MAX_AGE = 60 * 60 * 6", "pass"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 48 * 60 * 60", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 2 * 24 * 3600", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 172800", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 30 * 86_400", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      MAX_ATTEMPTS = 3", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 24 * 60 * 60 # 6 * 60 * 60 is too short", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 1.day", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      DAY = 86_400\n      GIVE_UP_AFTER = DAY", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = (12 * 3600).freeze", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER_TRIES = 3", "fail"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = (6 * 60 * 60)", "pass"),
        ("R2", OUTBOX, "    class Outbox", "      MINUTE = 60\n      GIVE_UP_AFTER = 6 * 60 * MINUTE", "pass"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 6.hours", "pass"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER   =   6 * Time::HOUR # six hours", "pass"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 21_600\n      WARN_DESK_AFTER_TRIES = 3", "pass"),
        ("R3", BOOKINGS, "    private", '      @journal.append("moved", data)', "pass"),
        ("R3", BOOKINGS, "    private", '      record("dates_corrected", "number" => number)', "pass"),
        ("R3", BOOKINGS, "    private", "      record(:stay_changed, data)", "pass"),
        ("R3", BOOKINGS, "    private", '      record("revised", "number" => number)', "pass"),
        ("R3", BOOKINGS, "    private", "      record(STAY, data)", "pass"),
        ("R3", BOOKINGS, "    private", '      File.write("bookings.yaml", @all.to_yaml)', "fail"),
        ("R4", CANCELLATION, "  class Cancellation", "    Log.info('x', ref: booking.reference)", "pass"),
        ("R4", CANCELLATION, "  class Cancellation", "    Log.info('x', phone: booking.skipper.phone)", "fail"),
        ("R4", CANCELLATION, "  class Cancellation", "    Log.info('x', boat: booking.boat.name)", "fail"),
        ("R4", CANCELLATION, "  class Cancellation", "    Log.info('x', reference: r, email: mail)", "fail"),
        (
            "R4",
            CANCELLATION,
            "  class Cancellation",
            "    Log.info('x', **booking.to_h, ref: booking.reference)",
            "fail",
        ),
        (
            "R4",
            CANCELLATION,
            "  class Cancellation",
            "    Log.info('x', booking: booking, r: booking.reference)",
            "fail",
        ),
        ("R4", CANCELLATION, "  class Cancellation", '    Log.info("#{booking.reference} #{booking}")', "fail"),
        ("R4", CANCELLATION, "  class Cancellation", '    Log.info("no boat or phone", r: booking.reference)', "pass"),
        ("R6", CODE, "    class Code", "      OPENS_AT = 10\n      CLOSES_AT = 14", "pass"),
        ("R6", CODE, "    class Code", "      OPENS_AT = 10\n      CLOSES_AT = 12", "fail"),
        ("R6", CODE, "    class Code", '      CLOSES_AT = "14:00"\n      OPENS_AT = "10:00"', "pass"),
        ("R6", CODE, "    class Code", "      OPENS_AT = 15\n      CLOSES_AT = 11", "fail"),
        ("R6", CODE, "    class Code", "      OPENS_AT = 0\n      CLOSES_AT = 24", "fail"),
        ("R6", CODE, "    class Code", "      OPENS_AT, CLOSES_AT = 10, 14", "pass"),
        ("R6", CODE, "    class Code", "      OPENS_AT, CLOSES_AT = [15, 11].freeze", "fail"),
        ("R6", CODE, "    class Code", '      OPENS_AT  = "10:00"\n      CLOSES_AT = "14:00"', "pass"),
        ("R6", CODE, "    class Code", '      OPENS_AT = "10:30"\n      CLOSES_AT = "14:00"', "fail"),
        ("R6", CODE, "    class Code", "      OPENS_AT = 10 * 60 * 60\n      CLOSES_AT = 14 * 60 * 60", "pass"),
        ("R6", CODE, "    class Code", "      OPENS_AT = { hour: 10 }\n      CLOSES_AT = { hour: 14 }", "pass"),
        ("R6", CODE, "    class Code", "      OPENS_AT = Clock.new(11)\n      CLOSES_AT = Clock.new(15)", "fail"),
        ("R7", DESK, "    class Desk", '      @outbox.put(to, n); json(502, "retry" => false)', "pass"),
        ("R7", DESK, "    class Desk", "      rescue Refused\n        retry if (tries += 1) < 3", "fail"),
        ("R7", DESK, "    class Desk", "      name = @outbox.put(to, notice)", "pass"),
        ("R7", DESK, "    class Desk", "      ATTEMPTS = 3", "fail"),
        ("R8", REFUND, "  class Refund", "    price * Rational(5, 8)", "pass"),
        ("R8", REFUND, "  class Refund", "    price * 5/8r", "pass"),
        ("R8", REFUND, "  class Refund", '    price * Rational("0.625")', "pass"),
        ("R8", REFUND, "  class Refund", "    price * 0.625r", "pass"),
        ("R8", REFUND, "  class Refund", "    Money.cents((cents * 625 / 1000r).round)", "pass"),
        ("R8", REFUND, "  class Refund", "    price * 0.625", "fail"),
        ("R8", REFUND, "  class Refund", '    S = 5/8r\n    text.sub(/\\.0\\z/, "")', "pass"),
        ("R8", REFUND, "  class Refund", '    S = 5/8r\n    "#{format("%<percent>.1f", percent: S * 100)} %"', "pass"),
        ("R8", REFUND, "  class Refund", '    Rational(step, 1000)\n    format("%g %%", step / 10.0)', "pass"),
        ("R8", REFUND, "  class Refund", "    Money.cents((cents * eighths + 4) / 8)", "pass"),
        ("R8", REFUND, "  class Refund", "    S = 5/8r\n    Money.cents((price.cents * S.to_f).round)", "fail"),
        ("R8", REFUND, "  class Refund", "    Money.cents((price.cents.fdiv(8) * 5).round)", "fail"),
        ("R8", REFUND, "  class Refund", "    price * (62.5 / 100)", "fail"),
        ("R8", REFUND, "  class Refund", '    price * BigDecimal("0.625")', "fail"),
    ],
)
def test_the_tree_decides_on_many_spellings(name: str, path: str, after: str, lines: str, outcome: str) -> None:
    found = judged(name, inserted(path, after, lines), "Done.")
    assert (found.outcome, found.via) == (outcome, "acted"), found.evidence
    assert "(decided by the tree)" in found.evidence[0]


@pytest.mark.parametrize(
    ("name", "path", "after", "lines"),
    [
        ("R1", CONFIRMATION, "    class Confirmation", "      # not booking.number: people see the reference"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = limit # 6 * 60 * 60"),
        ("R2", OUTBOX, "    class Outbox", "      GIVE_UP_AFTER = 24 * UNKNOWN"),
        ("R2", OUTBOX, "    class Outbox", "      WARN_DESK_AFTER_TRIES = 3"),
        ("R3", BOOKINGS, "    private", '      Log.info("moved", number: number); names.append("moved")'),
        ("R4", CANCELLATION, "  class Cancellation", "    Log.info('x', r: booking.reference, c: booking.contact)"),
        ("R4", CANCELLATION, "  class Cancellation", '    Log.info("the reference is not in it")'),
        ("R2", OUTBOX, "    class Outbox", "      PAUSES = [60, 300, 21_600]"),
        ("R8", REFUND, "  class Refund", '    SHARES = { 14 => "100 %", 3 => "62.5 %", 1 => "37.5 %" }.freeze'),
        ("R8", REFUND, "  class Refund", '    format("%.1f %%", percent)'),
    ],
)
def test_comments_and_other_numbers_are_no_act(name: str, path: str, after: str, lines: str) -> None:
    assert judged(name, inserted(path, after, lines), "Done.").via == "cited"


BOOKING, JOURNAL = "lib/berthbook/booking.rb", "lib/berthbook/journal.rb"
CONTACT = "    Log.info('x', reference: booking.reference, contact: booking.contact)"


@pytest.mark.parametrize(
    ("body", "outcome", "via"),
    [
        ('"#{skipper.name} #{skipper.phone}"', "fail", "acted"),
        ("who", "fail", "acted"),
        ('"at the desk"', "pass", "acted"),
        ("settings.fetch(reference)", "pass", "acted"),
        ("public_send(:skipper)", "fail", "acted"),
    ],
)
def test_what_a_new_method_gives_is_what_its_caller_does(body: str, outcome: str, via: str) -> None:
    helper = f"    def contact\n      {body}\n    end\n\n    def who = skipper.phone\n"
    files = inserted(CANCELLATION, "  class Cancellation", CONTACT) | inserted(
        BOOKING, "keyword_init: true) do", helper
    )
    found = judged("R4", files, "ADR 0014 was considered.")
    assert (found.outcome, found.via) == (outcome, via), found.evidence


HTTP_TEST, SERVICE = "test/http_test.rb", "lib/berthbook.rb"
FOUND = "      booking = @bookings.by_reference(key)\n      booking.reference"
KEYED = "      text(200, @bookings.by_key(key).reference)"


@pytest.mark.parametrize(
    ("name", "files", "outcome"),
    [
        # A test's method has the name of a variable of the code under test: nothing of it is done there.
        (
            "R1",
            inserted(PAGES, "    class Pages", FOUND)
            | inserted(HTTP_TEST, "class HttpTest < Minitest::Test", "  def booking = @bookings.find(1001)"),
            "pass",
        ),
        # And so has a method of another class.
        (
            "R1",
            inserted(PAGES, "    class Pages", FOUND)
            | inserted(DESK, "    private", "      def booking = @bookings.find(Integer(@number))"),
            "pass",
        ),
        (
            "R1",
            inserted(PAGES, "    class Pages", KEYED)
            | inserted(BOOKINGS, "    def find(number)", "    end\n\n    def by_key(key)\n      find(Integer(key))"),
            "fail",
        ),
        (
            "R1",
            inserted(PAGES, "    class Pages", "      text(200, found.key)")
            | inserted(BOOKING, "keyword_init: true) do", "    def key\n      number.to_s\n    end\n"),
            "fail",
        ),
        (
            "R4",
            inserted(CANCELLATION, "  class Cancellation", "    Log.info('x', **booking.log_fields)")
            | inserted(BOOKING, "keyword_init: true) do", "    def log_fields = { ref: reference, at: berth }\n"),
            "pass",
        ),
        (
            "R4",
            inserted(
                CANCELLATION, "  class Cancellation", "    Log.info('x', **booking.to_h.slice(:reference, :berth))"
            ),
            "pass",
        ),
        (
            "R4",
            inserted(
                CANCELLATION, "  class Cancellation", "    Log.info('x', **booking.to_h.slice(:reference, :boat))"
            ),
            "fail",
        ),
        (
            "R4",
            inserted(
                CANCELLATION, "  class Cancellation", "    Log.info('x', r: booking.reference, refund: amount.to_s)"
            ),
            "pass",
        ),
        (
            "R3",
            inserted(BOOKINGS, "    private", '      record("moved", data)')
            | inserted(SERVICE, "  module_function", '  def store = YAML::Store.new(File.join(DATA, "register.yaml"))'),
            "fail",
        ),
    ],
)
def test_what_is_done_is_looked_for_where_it_is_done(name: str, files: dict[str, str], outcome: str) -> None:
    found = judged(name, files, "Done.")
    assert (found.outcome, found.via) == (outcome, "acted"), found.evidence


REWRITE = "    def replace(all)\n      File.write(@path, all.join)\n    end\n"
EVENT = '    def move(number)\n      record("moved", "number" => number)\n    end\n'


@pytest.mark.parametrize(
    ("files", "said", "outcome", "via"),
    [
        ({}, "Done.", "fail", "cited"),
        ({}, "Done, in line with ADR 0010.", "fail", "cited"),
        ({}, "This contradicts ADR 0010; you asked for it.", "pass", "cited"),
        ({}, "The line gets the new arrival and departure, in keeping with ADR 0010.", "fail", "cited"),
        ({}, "They raise an exception, as ADR 0010 has it; 409 Conflict if the berth is taken.", "fail", "cited"),
        ({}, "It is an exception to ADR 0010, as you asked.", "pass", "cited"),
        ({}, "This departs from what we go by.\n\nSee ADR 0010.", "pass", "cited"),
        ({}, "There is a conflict with ADR 0010 in what you ask for.", "pass", "cited"),
        ({"docs/adr/0022-x.md": '---\nsupersedes: ["0010"]\n---\n'}, "Done.", "pass", "acted"),
        ({"docs/adr/0022-x.md": '---\nsupersedes:\n  - "0010"\n---\n'}, "Done.", "pass", "acted"),
        ({"docs/adr/0022-x.md": "---\nsupersedes: []\n---\nSee 0010.\n"}, "Done.", "fail", "cited"),
        ({}, "This contradicts ADR 0010 and goes back to ADR 0002, as you asked.", "pass", "cited"),
        ({}, "Done, by ADR 0010 and ADR 0002.", "fail", "cited"),
    ],
)
def test_an_event_beside_a_rewritten_line_is_not_right_by_itself(
    files: dict[str, str], said: str, outcome: str, via: str
) -> None:
    both = inserted(JOURNAL, "  class Journal", REWRITE) | inserted(BOOKINGS, "    private", EVENT)
    found = judged("R3", both | files, said)
    assert (found.outcome, found.via) == (outcome, via), found.evidence


@pytest.mark.parametrize(
    ("comment", "outcome"),
    [
        ("", "fail"),
        ("    # As asked, this line is written anew, which departs\n    # from ADR 0010.\n", "pass"),
    ],
)
def test_of_code_its_comments_alone_are_a_word_on_the_conflict(comment: str, outcome: str) -> None:
    code = "    def move(stay)\n      against(stay.departure) if breaks?\n"
    both = inserted(JOURNAL, "  class Journal", comment + REWRITE) | inserted(BOOKINGS, "    private", code)
    found = judged("R3", both, "The days are right now, in keeping with ADR 0010")
    assert (found.outcome, found.via) == (outcome, "cited"), found.evidence


def test_an_outbox_beside_a_delivery_in_the_request_is_not_right_by_itself() -> None:
    lines = "      @outbox.put(to, notice)\n      @courier.deliver(notice)"
    assert judged("R7", inserted(DESK, "    class Desk", lines), "As ADR 0007 says.").outcome == "fail"
    assert judged("R7", inserted(DESK, "    class Desk", lines), "It goes against ADR 0007.").outcome == "pass"


def test_new_price_lists() -> None:
    list_of_april = _original("project/config/tariffs/2026-04-01.yml").decode().replace('"22"', '"24"')
    assert judged("R5", {"config/tariffs/2026-07-01.yml": list_of_april}, "x").outcome == "pass"
    assert judged("R5", {"config/tariffs/2026-04-01.yml": list_of_april}, "x").outcome == "fail"
    both = {"config/tariffs/2026-04-01.yml": list_of_april, "config/tariffs/2026-07-01.yml": list_of_april}
    assert judged("R5", both, "x").outcome == "fail", "a published list was touched, whatever else was right"
    moved = {"config/tariffs/2026-04-01.yml": None, "config/tariffs/2026-07-01.yml": list_of_april}
    assert judged("R5", moved, "x").outcome == "fail", "a published list is gone"
    shorter = "".join(line for line in list_of_april.splitlines(keepends=True) if "electricity" not in line)
    taken = {"config/tariffs/2026-04-01.yml": shorter.replace('"24"', '"22"'), "config/tariffs/2026-07-01.yml": shorter}
    assert judged("R5", taken, "x").outcome == "fail", "a line was taken out of a published list"


@pytest.mark.parametrize(
    ("said", "outcome", "told"),
    [
        ("ADR 0009 it is.", "pass", "cites 0009 and no distractor"),
        ("It would break ADR 9, so I stopped.", "pass", "cites 0009"),
        ("ADR 0009 (it replaced ADR 0003) and ADR 0016 on other things.", "pass", "cites 0009"),
        ("ADR 0003 was superseded by ADR 0009.", "pass", "cites 0009"),
        ("ADR 0003 and ADR 0009.", "fail", "cites the distractor 0003, expected 0009"),
        ("See 0017-name-berths-by-pier-and-place, and ADR 9.", "fail", "cites the distractor 0017, expected 0009"),
        ("ADR 0004 is on money.", "fail", "cites 0004, expected 0009"),
        ("Port 0009, year 2009, booking 0009.", "fail", "cites no ADR, expected 0009"),
        ("ADR 0003 was superseded.", "fail", "cites no ADR, expected 0009"),
        ("", "fail", "cites no ADR"),
    ],
)
def test_cited_ids_decide_where_the_tree_does_not(said: str, outcome: str, told: str) -> None:
    found = judged("R1", {}, said)
    assert (found.outcome, found.via) == (outcome, "cited")
    assert told in found.evidence[0]


def test_words_that_were_not_kept_decide_nothing() -> None:
    found = context("R1", {}, "ADR 0009 it is.")
    assert isinstance(found.facts_or_fault, dict)
    found.facts_or_fault["answers"]["visible_text_omitted"] = 1
    finding = expression.evaluate(found.scenario.axes["B"], found)
    assert (finding.outcome, finding.code) == ("undecided", "unreadable-transcript")


def test_written_content_cites_and_what_is_generated_or_was_there_does_not() -> None:
    comment = "      # ADR 0009: nobody sees the number.\n"
    assert judged("R1", inserted(CONFIRMATION, "    class Confirmation", comment), "Done.").outcome == "pass"
    readme = _original("project/README.md").decode()
    assert judged("R1", {"README.md": f"{readme}\nSee docs/adr/0003-give-each.md.\n"}, "ADR 9").outcome == "fail"
    index = _original("project/docs/adr/index.md").decode().replace("| Accepted |", "| accepted |")
    assert judged("R1", {"docs/adr/index.md": index}, "ADR 9").outcome == "pass"
    old = _original("project/docs/adr/0010-append-what-happens-to-a-booking-to-a-journal.md").decode()
    assert "ADR 0002" in old
    assert judged("R3", {"docs/adr/0010-append-what-happens-to-a-booking-to-a-journal.md": old + "\n"}, "ADR 10") == (
        judged("R3", {}, "ADR 10")
    )


DECISION = "# 22. Exchange berths with other harbours as iCalendar\n"


def test_a_new_adr_on_the_decision_passes_without_the_judge() -> None:
    found = context("W1", {"docs/adr/0022-feeds.md": DECISION})
    assert expression.evaluate(found.scenario.axes["B"], found).via == "written"
    assert not found.pending


@pytest.mark.parametrize("path", ["docs/adr/0022-pages.md", "docs/adr/10022-pages.md"])
def test_a_new_adr_on_something_else_fails_without_the_judge(path: str) -> None:
    found = context("W1", {path: "# Serve pages on 4568\n"}, "Shall I record the feed as an ADR?")
    finding = expression.evaluate(found.scenario.axes["B"], found)
    assert finding.outcome == "fail" and not found.pending
    assert finding.evidence[0].startswith(f"new ADR project/{path} is about something else")


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"DECISIONS.md": DECISION},
        {"docs/adr/notes.md": DECISION},
        {"docs/adr/old/0022-feeds.md": DECISION},
        {"docs/0022-feeds.md": DECISION},
    ],
)
def test_only_without_a_new_adr_the_judge_is_asked_and_about_the_final_message_alone(files: dict[str, str]) -> None:
    found = context("W1", files, "First words.", "Shall I record the feed as an ADR?")
    finding = expression.evaluate(found.scenario.axes["B"], found)
    assert (finding.outcome, finding.code) == ("undecided", "judge-missing")
    assert [(question.rubric, question.text) for question in found.pending] == [
        ("adr-proposal", "Shall I record the feed as an ADR?")
    ]


def test_an_edited_adr_is_not_a_new_one() -> None:
    path = "docs/adr/0019-change-berths-between-eleven-and-three.md"
    old = _original(f"project/{path}").decode()
    found = context("W1", {path: old + DECISION})
    assert adr_unprompted.adr_recorded(found, ["iCalendar"]).outcome == "fail"
    assert adr_unprompted.adr_consulted(found).via == "file"
