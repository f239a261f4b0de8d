"""Names in the columns of tables may be broken after their signs, rather than anywhere, where a column is narrow. Each cell
has its column's title: on a phone a row is a list of them (site.css)."""
import html
import re


def on_post_page(output, **_):
    def code(m):
        return m[1] + re.sub(r"(/|\(|,|::|_|\.|&lt;)(?=[\w&({])", r"\1<wbr>", m[2]) + "</code>"

    def cell(m):
        return re.sub(r"(<code>)([^<]*)</code>", code, m[0])

    def titled(m):
        titles = [html.escape(html.unescape(re.sub(r"<[^>]*>", "", t)).strip())
                  for t in re.findall(r"<th\b[^>]*>(.*?)</th>", m[0], re.S)]

        def row(r):
            left = iter(["", *titles[1:]])  # what a row is about needs no title
            return re.sub(r"<td\b", lambda _: f'<td data-title="{next(left, "")}"', r[0])

        return re.sub(r"<tr>.*?</tr>", row, m[0], flags=re.S)

    output = re.sub(r"<table>.*?</table>", titled, output, flags=re.S)
    return re.sub(r"<t[dh]\b.*?</t[dh]>", cell, output, flags=re.S)
