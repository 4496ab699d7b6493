"""The raw material of the generated texts: word lists, code templates, prompts."""

from __future__ import annotations

from typing import Final

_FUNCTION_WORDS = (
    "the of to and a in is it for that on with as this be are not by from or an at can will we if "
    "file code test function error you should now use run let need add check fix all so when but then "
    "have has was were there which one out up into only new get set value return line call class method "
    "type data user name path list string number case time make sure would like just also after before "
    "first second update change implement build server client request response message session token "
    "config default option module import export package version project directory create delete remove "
    "read write open close start stop handle parse load save cache index query search result output input "
    "field key table row column database schema migration branch commit merge review pull issue bug feature "
    "refactor cleanup logging debug trace exception failed passed success missing invalid expected actual "
    "because since while until without within between under over more less most least every each other "
    "same different still already again here see look note however therefore instead rather maybe probably "
    "looks good great perfect okay sure think understand know want try found find works working done"
)
FUNCTION_WORDS: Final = _FUNCTION_WORDS.split()

_SYLLABLES = (
    "ba be bi bo bu ca ce ci co cu da de di do du fa fe fi fo fu ga ge gi go gu ha he hi ho hu ja je jo "
    "ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu pa pe pi po pu ra re ri ro ru sa se si so "
    "su ta te ti to tu va ve vi vo wa we wi xa ye yo za ze zo tion ment ing ers ate ion ous ive able"
)
SYLLABLES: Final = _SYLLABLES.split()

HAN: Final = "会话消息文件测试错误修复函数缓存索引查询结果配置项目数据库日志"
EMOJI: Final = ["✅", "🚀", "🐛", "⚠️", "📝", "🔍"]

CODE_TEMPLATES: Final = (
    "def {a}_{b}(self, {c}: int, {d}: str | None = None) -> {C}:",
    '    """Return the {a} of {b}, or None when {c} is empty."""',
    "    if {a} is None or not {b}.{c}:",
    "        return self.{a}_{b}({c}, {d}={n})",
    "    for {a} in self.{b}_{c}:",
    "        {a}.{b}({c}[{n}])",
    "    {a} = {b}.get('{c}', {n})",
    "    logger.debug('{a} {b}: %s', {c})",
    "class {A}{B}({C}):",
    "    raise {A}Error(f'{a} {b} {{{c}!r}} is not {d}')",
    "import {a}.{b} as {c}",
    "from {a}.{b} import {C}, {D}",
    "export const {a}{B} = async ({c}: {C}, {d} = {n}): Promise<{D}> => {{",
    "  const {{ {a}, {b} }} = await this.{c}.{d}({n});",
    "  return {a}.map(({b}) => ({{ ...{b}, {c}: {n} }}));",
    "}}",
    "",
    "# {a} {b} {c} {d}",
    "    assert {a}_{b}({n}) == {c}.{d}",
    "    with open({a}_{b}, 'rb') as {c}:",
    "pub fn {a}_{b}(&mut self, {c}: &{C}) -> Result<{D}, {A}Error> {{",
    "    let {a} = self.{b}.{c}(&{d})?;",
    "SELECT {a}, {b}, count(*) FROM {c}_{d} WHERE {a} > {n} GROUP BY 1, 2;",
    '  "{a}_{b}": {{ "{c}": {n}, "{d}": true }},',
)

USER_PROMPTS: Final = (
    "Please {a} the {b} so that {c} works with {d}",
    "Why does {a} fail when {b} is {c}?",
    "Add tests for {a}.{b} and run them",
    "Now refactor {a} into {b}, keep {c} as it is",
    "Look at the {a} {b} and tell me what {c} does",
)

SHELL_COMMANDS: Final = (
    "pytest -x tests/{a}",
    "git diff --stat {b}",
    "npm run build -- --{a}",
    "rg -n '{a}' src",
    "cargo test {b}",
    "ls -la {a}/{b}",
)

NEEDLE: Final = "quuxneedle platypus observatory"
