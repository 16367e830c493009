#include <gflow/train/report.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using gflow::Report;
using gflow::to_html;
using gflow::detail::looks_numeric;
using gflow::test::contains;
using gflow::test::TemporaryFolder;

TEST_CASE("a report is one page that needs nothing else") {
    Report report;
    report.title = "Quick <start>";
    report.paragraphs = {"Two models & one recipe."};
    report.tables = {{.title = "Result",
                      .columns = {"Model", "Perplexity", "Time", "Note"},
                      .rows = {{"grassmann", "312.4", "3m 46s", "first"}, {"transformer", "—", "4m 38s"}},
                      .note = "dropout off"}};
    report.charts = {
        {.title = "Loss",
         .x_label = "step",
         .series = {{.name = "a<b", .x = {1, 2}, .y = {3, 2}}, {.name = "v", .x = {1}, .y = {3}, .dashed = true}}}};
    report.texts = {{"Sample", "The <unk>", " is\n</pre><script>alert(1)</script>"}};
    report.facts = {{"seed", "42"}, {"command", "train --lr \"1e-3\" && echo"}};
    const std::string html = to_html(report);
    CHECK_THAT(html, contains("<!doctype html>") && contains("<meta charset=\"utf-8\">"));
    CHECK_THAT(html, contains("<title>Quick &lt;start&gt;</title>") && contains("<h1>Quick &lt;start&gt;</h1>"));
    CHECK_THAT(html, contains("<p>Two models &amp; one recipe.</p>"));
    CHECK_THAT(
        html,
        contains("<th>Model</th><th class=\"number\">Perplexity</th><th class=\"number\">Time</th><th>Note</th>"));
    CHECK_THAT(html, contains("<td>grassmann</td><td class=\"number\">312.4</td><td class=\"number\">3m 46s</td>"));
    CHECK_THAT(html, contains("<td class=\"number\">4m 38s</td><td></td></tr>"));  // a short row is filled up
    CHECK_THAT(html, contains("<p class=\"note\">dropout off</p>"));
    CHECK_THAT(html, contains("<i></i>a&lt;b</li>") && contains("<li class=\"dashed\"") && contains("<svg "));
    CHECK_THAT(html, contains("<pre><b>The &lt;unk&gt;</b> is\n&lt;/pre&gt;&lt;script&gt;"));
    CHECK_THAT(html, contains("<dt>command</dt><dd>train --lr &quot;1e-3&quot; &amp;&amp; echo</dd>"));
    for (const char* outside : {"<script", "http:", "https:", "src=", "@import", "url("})
        CHECK_FALSE(contains(outside).match(html));
}

TEST_CASE("a report of nothing") {
    const std::string html = to_html(Report{});
    CHECK_THAT(html, contains("</body>\n</html>\n"));
    CHECK_FALSE(contains("<h2>").match(html));
    CHECK_THAT(to_html(Report{.tables = {{}}, .charts = {{}}, .texts = {{}}}), contains("no data"));
}

TEST_CASE("a report refuses what cannot be meant") {
    CHECK_THROWS_AS(to_html(Report{.tables = {{.columns = {"a"}, .rows = {{"1", "2"}}}}}), gflow::usage_error);
    CHECK_THROWS_WITH(to_html(Report{.tables = {{.columns = {"a"}, .rows = {{"1", "2"}}}}}),
                      contains("must not be longer than the columns; got columns=1, row=2"));
    CHECK_THROWS_AS(to_html(Report{.charts = {{.series = {{.name = "a", .x = {1}}}}}}), gflow::usage_error);
}

TEST_CASE("numbers are told from words") {
    for (const char* number :
         {"12,607,168", "-3.5", "−3.5", "+1", ".5", "3m 20s", "1.2 GB", "1e-5", "45 %", "", "—", "nan", "< 0.1", "± 3"})
        CHECK(looks_numeric(number));
    for (const char* word : {"grassmann", "-", "a1", "- a", "<unk>", "nano"})
        CHECK(looks_numeric(word) == (word[0] == '-' && word[1] == 0));
}

TEST_CASE("write_report") {
    TemporaryFolder folder;
    Report report;
    report.title = "one";
    gflow::write_report(folder / "report.html", report);
    CHECK(gflow::read_file(folder / "report.html") == to_html(report));
    report.charts = {{.series = {{.name = "a", .x = {1}}}}};
    CHECK_THROWS_AS(gflow::write_report(folder / "report.html", report), gflow::usage_error);
    CHECK_THAT(gflow::read_file(folder / "report.html"), contains("one"));
    CHECK_THROWS_WITH(gflow::write_report("/dev/full", Report{}),
                      contains("gflow::write_report: cannot write /dev/full: No space left on device"));
}
