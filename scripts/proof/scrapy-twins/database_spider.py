import sqlite3

import scrapy


class Database(scrapy.Spider):
    name = "database"

    def start_requests(self):
        database = sqlite3.connect(self.database)
        for (id,) in database.execute("SELECT id FROM product"):
            yield scrapy.Request(f"{self.site}/product/{id}", cb_kwargs={"id": id})

    def parse(self, response, id):
        yield {"id": id, "name": response.css("h1::text").get()}
