"""Names in the columns of tables may be broken after their signs, rather than anywhere, where a column is narrow."""
import re


def on_post_page(output, **_):
    def code(m):
        return m[1] + re.sub(r"(/|\(|,|::|_|\.|&lt;)(?=[\w&({])", r"\1<wbr>", m[2]) + "</code>"

    def cell(m):
        return re.sub(r"(<code>)([^<]*)</code>", code, m[0])

    return re.sub(r"<t[dh].*?</t[dh]>", cell, output, flags=re.S)
