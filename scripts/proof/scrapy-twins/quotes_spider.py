import scrapy


class Quotes(scrapy.Spider):
    name = "quotes"

    def start_requests(self):
        yield scrapy.Request(f"{self.site}/")

    def parse(self, response):
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.css("small.author::text").get(),
                "tags": quote.css("a.tag::text").getall(),
            }
        yield from response.follow_all(css="li.next a", callback=self.parse)
