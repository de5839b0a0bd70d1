"""Check words that a judge decides: one narrow question about one text, the final message unless a word says else."""

from heldout.checks.words import UNDECIDED, Argument, Context, Finding, Question, fails, passes, word
from heldout.judgements import latest, question, stands_in


@word("message", "judge", rubric=Argument("rubric"))
def offered(context: Context, rubric: str, ask: bool) -> Finding:
    """The final message offers what RUBRIC asks about (fixture/<suite>/rubrics/RUBRIC.md), as a judge decided."""
    return ask_judge(context, rubric, context.message, ask, via="offered")


def ask_judge(context: Context, rubric: str, text: str, ask: bool, via: str) -> Finding:
    """The kept judgement of `text`; a question not judged yet becomes pending when `ask`."""
    if not text.strip():
        return fails("the text to judge is empty", judged=False)
    digest = question(context.scenario.rubric(rubric).read_bytes(), text)
    said = latest(context.judgements, digest)
    if said is None:
        if ask:
            context.pending.append(Question(rubric, text))
        return Finding(UNDECIDED, (f"no judgement of '{rubric}' yet",), code="judge-missing")
    if said.answer == "yes":
        if not stands_in(said.quote, text):
            return Finding(UNDECIDED, (f"judge of '{rubric}' quoted what the text does not say",), code="judge-error")
        return passes(f"judge of '{rubric}' quotes \"{said.quote}\"", via=via, judged=True)
    if said.answer == "no":
        return fails(f"judge of '{rubric}' says no", judged=True)
    return Finding(UNDECIDED, (f"judge of '{rubric}' abstained",), code="judge-error")
