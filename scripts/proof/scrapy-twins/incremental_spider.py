import scrapy


class Incremental(scrapy.Spider):
    name = "incremental"
    custom_settings = {"JOBDIR": "incremental"}  # keeps the fingerprints of the articles

    def start_requests(self):
        yield scrapy.Request(f"{self.site}/news/", dont_filter=True)

    def parse(self, response):
        yield from response.follow_all(css="a", callback=self.parse_article)

    def parse_article(self, response):
        yield {"url": response.url, "title": response.css("h1::text").get()}
